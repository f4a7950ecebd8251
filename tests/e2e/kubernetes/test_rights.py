# SPDX-License-Identifier: Apache-2.0
"""What people may do who have the roles of deploy/kubernetes/roles-for-users.yaml and no others, logged in by a program."""
import base64
import json
import pathlib

import node_agent
import pytest
from conftest import Place, wait_until
from trial_jobs import JOB, gone, measured

ROLES = pathlib.Path(__file__).parents[3] / "deploy/kubernetes/roles-for-users.yaml"
CONFIG = """
current-context: none
contexts: [{name: ann, context: {cluster: here, user: ann}}]
clusters: [{name: here, cluster: {server: SERVER, certificate-authority: CA}}]
users: [{name: ann, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./login}}}]
"""


@pytest.fixture(scope="module")
def agent(cluster, tmp_path_factory):
    return node_agent.start(cluster, tmp_path_factory.mktemp("agent"))


@pytest.fixture
def ann(cluster, agent, tmp_path):
    """Her account, without any right; `assay` runs as hers."""
    cluster.kubectl("apply", "-f", str(ROLES))
    cluster.kubectl("create", "serviceaccount", "ann")
    name = wait_until(lambda: cluster.kubectl("get", "serviceaccount", "ann", "-o", "jsonpath={.secrets[0].name}"), 180, "a token",
                      every=0.2)
    token = base64.b64decode(cluster.kubectl("get", "secret", name, "-o", "jsonpath={.data.token}")).decode()
    told = {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "status": {"token": token}}
    (tmp_path / "login").write_text(f"#!/bin/sh\necho '{json.dumps(told)}'\n")
    (tmp_path / "login").chmod(0o700)
    (tmp_path / "config").write_text(CONFIG.replace("SERVER", cluster.env["APISERVER"]).replace("CA}", cluster.env["CACERT"] + "}"))
    (tmp_path / "job.yaml").write_text(JOB)
    place = Place(tmp_path)
    place.env["KUBECONFIG"] = f"{tmp_path}/nothing:{tmp_path}/config"
    place.token = token
    yield place
    cluster.kubectl("delete", "serviceaccount", "ann")
    cluster.kubectl("delete", "clusterrolebinding", "ann-assay-node-reader", "ann-assay-cleaner", "--ignore-not-found")
    cluster.kubectl("delete", "-n", "default", "rolebinding", "ann-assay-trial-user", "ann-assay-run-user", "--ignore-not-found")
    cluster.kubectl("delete", "-f", str(ROLES))


def bind(cluster, role, namespace=None):
    where = ["-n", namespace, "create", "rolebinding"] if namespace else ["create", "clusterrolebinding"]
    done = cluster.try_kubectl(*where, f"ann-{role}", f"--clusterrole={role}", "--serviceaccount=default:ann")
    assert done.returncode == 0 or "already exists" in done.stderr, done.stderr


def wait_until_may(cluster, *what):
    """The API server reads bindings a moment after it has stored them."""
    wait_until(lambda: cluster.may("default:ann", *what), 180, f"she may {what}", every=0.2)


def test_trials_and_cleaning_need_their_roles_alone(cluster, ann):
    words = ["cluster", "trial", "--context", "ann", "-f", "job.yaml", "--gpus", "0.2", *measured(), "--json"]
    refused = ann.assay(*words, timeout=300)
    assert refused.returncode == 4 and "let its account get, list and watch" in refused.stderr, refused.stderr
    bind(cluster, "assay-trial-user", "default")
    bind(cluster, "assay-agent-user", "assay")
    bind(cluster, "assay-node-reader")
    for what in (("create", "jobs"), ("get", "pods", "--subresource=proxy", "-n", "assay"), ("list", "nodes")):
        wait_until_may(cluster, *what)
    found = ann.assay(*words, timeout=300)
    assert found.returncode == 0, found.stderr
    trial, = json.loads(found.stdout)["trials"]
    assert trial["end"] == "measured" and trial["session"], (trial, found.stderr)
    gone(cluster)
    refused = ann.assay("cluster", "clean", "--context", "ann", timeout=60)
    assert refused.returncode == 4, refused
    bind(cluster, "assay-cleaner")
    wait_until_may(cluster, "patch", "nodes")
    cleaned = ann.assay("cluster", "clean", "--context", "ann", timeout=120)
    assert cleaned.returncode == 0 and "cleaned" in cleaned.stdout, cleaned
    assert ann.token not in found.stdout + found.stderr + refused.stderr


def test_runs_need_their_roles_alone(cluster, ann, agent):
    bind(cluster, "assay-run-user", "default")
    bind(cluster, "assay-agent-user", "assay")
    bind(cluster, "assay-node-reader")
    for what in (("create", "jobs"), ("get", "pods", "--subresource=proxy", "-n", "assay"), ("list", "nodes")):
        wait_until_may(cluster, *what)
    done = ann.assay("run", "--runtime", "kubernetes", "--context", "ann", "--hooks-folder", agent, "--json", "--timeout", "30s",
                     "busybox:1", "--", "sh", "-c", "echo hello; sleep 2", timeout=120)
    assert done.returncode == 0, done.stderr
    run, = json.loads(done.stdout)["runs"]
    assert run["status"] == "finished" and run["runtime"] == "kubernetes", run
