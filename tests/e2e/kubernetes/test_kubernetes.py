# SPDX-License-Identifier: Apache-2.0
"""The agent on a node of a real Kubernetes: apps have the names of their pods, by the API alone."""
import json
import os

import images
import pytest
from conftest import BIN, Place, wait_until
from agents import Agent
from clusters import NODE_ADDRESS
from test_placement import write_runs

READER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: pod-reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]
"""
RESIZER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: pod-resizer}
rules: [{apiGroups: [""], resources: [pods/resize], verbs: [patch]}]
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {app: counter}, annotations: {assay.goals: "fps >= 10"}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: "busybox:1", command: [sleep, "600"], resources: {limits: {cpu: 500m}}}]
"""


@pytest.fixture(scope="module", autouse=True)
def roles(cluster):
    cluster.kubectl("create", "-f", "-", text=READER + "---" + RESIZER)


def allow(cluster, name, role="pod-reader"):
    cluster.kubectl("create", "clusterrolebinding", f"{name}-{role}", f"--clusterrole={role}",
                    f"--serviceaccount=default:{name}")


def start_pod(cluster, name):
    cluster.kubectl("create", "-f", "-", text=POD.replace("NAME", name))


def kubeconfig(cluster, folder, token):
    (folder / "token").write_text(token)
    config = {"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
              "clusters": [{"name": "c", "cluster": {"server": cluster.env["APISERVER"],
                                                     "certificate-authority": cluster.env["CACERT"]}}],
              "users": [{"name": "u", "user": {"tokenFile": "token"}}]}
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))  # JSON is YAML
    return path


@pytest.fixture
def agents(tmp_path):
    """Starts agents that are told of this cluster, and nothing of Docker."""
    started = []

    def start(config):
        (tmp_path / "agent.yaml").write_text(json.dumps({"kubernetes": {"kubeconfig": str(config)}}))
        started.append(Agent(tmp_path, None, "--config", str(tmp_path / "agent.yaml")))
        return started[-1]
    yield start
    for agent in started:
        agent.end()


def test_an_app_has_the_names_of_its_pod_while_it_runs(cluster, agents, tmp_path):
    token = cluster.account("watching")
    allow(cluster, "watching")
    start_pod(cluster, "before")
    agent = agents(kubeconfig(cluster, tmp_path, token))
    start_pod(cluster, "after")
    try:
        for pod in ("before", "after"):
            labels = {"namespace": "default", "pod": pod, "container": "main", "image": "busybox:1"}
            wait_until(lambda: agent.value("container_cpu_usage_seconds_total", **labels) is not None, 180,
                       lambda: f"{pod} is named: {agent.get('/api/v1/apps')} {agent.log.read_text()}")
            # The container that holds the pod together has its name too.
            assert len([app for app in agent.apps() if app.get("pod") == pod]) == 2
    finally:
        for pod in ("before", "after"):
            cluster.end_pod(pod)
    wait_until(lambda: not [app for app in agent.apps() if app.get("pod") and app["running"]], 180, "both are gone")


def test_an_account_that_may_not_read_is_told_and_works_once_it_may(cluster, agents, tmp_path):
    agent = agents(kubeconfig(cluster, tmp_path, cluster.account("forbidden")))
    wait_until(lambda: "let its account get, list and watch pods" in agent.log.read_text(), 180, agent.log.read_text)
    assert agent.get("/healthz") == "ok\n"
    allow(cluster, "forbidden")
    wait_until(lambda: "pods are known again" in agent.log.read_text(), 180, agent.log.read_text)


def test_a_cluster_that_cannot_resize_pods_is_told_and_the_control_group_is_changed(cluster, agents, tmp_path):
    """Kubernetes 1.20 asks who may do it before it says that it cannot."""
    token = cluster.account("changing")
    allow(cluster, "changing")
    start_pod(cluster, "limited")
    agent = agents(kubeconfig(cluster, tmp_path, token))

    def main():
        return next((app for app in agent.apps() if app.get("pod") == "limited" and app.get("container") == "main"), None)

    def limit_to(cores):
        status, answer = agent.ask("PUT", "/api/v1/limits", {"app": main()["id"], "cores": cores}, over_socket=True)
        assert status == 200, answer
        quota = wait_until(lambda: agent.value("container_spec_cpu_quota", pod="limited", container="main") == cores * 1e5,
                           30, lambda: f"{cores} cores: {agent.log.read_text()}")
        assert quota
    try:
        wait_until(main, 180, lambda: f"it is named: {agent.log.read_text()}")
        limit_to(0.75)
        agent.says("by its control group and not by its cluster: its account may not: let it patch pods/resize")
        allow(cluster, "changing", "pod-resizer")
        wait_until(lambda: cluster.may("default:changing", "patch", "pods", "--subresource=resize"), 180, "it may", every=0.2)
        limit_to(0.6)
        agent.says("this cluster cannot change a pod that runs")
        limit_to(0.25)  # clusters take the limit for the request where there is none
        agent.says("its spec requests more cpu than that")
    finally:
        cluster.end_pod("limited")


IN_POD = """
mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount
cp "$TOKEN_FILE" /run/secrets/kubernetes.io/serviceaccount/token
cp "$CACERT" /run/secrets/kubernetes.io/serviceaccount/ca.crt
exec "$@"
"""


def test_in_a_pod_its_service_account_is_enough(cluster, tmp_path):
    """Only the files and the environment are a pod's: the agent itself needs the node's control groups anyway."""
    (tmp_path / "token").write_text(cluster.account("inside"))
    allow(cluster, "inside")
    start_pod(cluster, "seen")
    environment = dict(os.environ, TOKEN_FILE=str(tmp_path / "token"), CACERT=cluster.env["CACERT"],
                       KUBERNETES_SERVICE_HOST="127.0.0.1", KUBERNETES_SERVICE_PORT="16443")
    agent = Agent(tmp_path, within=["unshare", "--mount", "sh", "-ec", IN_POD, "sh"], env=environment)
    try:
        wait_until(lambda: agent.value("container_cpu_usage_seconds_total", pod="seen", container="main") is not None, 180,
                   lambda: f"it is named: {agent.log.read_text()}")
    finally:
        cluster.end_pod("seen")
        agent.end()


PLACER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: placer}
rules:
- {apiGroups: [""], resources: [pods], verbs: [create, get, delete]}
- {apiGroups: [""], resources: [pods/log], verbs: [get]}
- {apiGroups: [""], resources: [pods/proxy], verbs: [create]}
"""


@pytest.fixture(scope="module")
def placer(cluster, tmp_path_factory):
    """A place that has learned of the cluster's only node, the words for its account, and an image of workers."""
    node = cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.labels.kubernetes\\.io/hostname}")
    place = Place(tmp_path_factory.mktemp("placer"))
    write_runs(place.folder / "runs.csv", [(node, "Board 5", 4e9), ("elsewhere", "Board 4", 2.8e9)])
    for words in (["train", "runs.csv", "-o", "placement.json"],
                  ["model", "make", "squeezenet", "--width", "0.25", "--resolution", "64", "-o", "small.onnx"]):
        done = place.assay(*words, timeout=300)
        assert done.returncode == 0, done.stderr
    for name, layer, change in (
            ("worker", images.worker_root(BIN / "assay-infer"), 'ENTRYPOINT ["/usr/bin/assay-infer", "--listen"]'),
            ("broken", images.busybox_root(), 'CMD ["/bin/sh", "-c", "echo no such operator; exit 4"]')):
        cluster.add_image(f"{name}:1", layer, change)
    cluster.kubectl("create", "-f", "-", text=PLACER)
    token = cluster.account("placing")
    allow(cluster, "placing", "placer")
    place.node, place.access = node, ["--kubernetes", "--kubeconfig", kubeconfig(cluster, place.folder, token)]
    return place


def test_a_model_is_placed_as_a_pod_measured_and_ended(cluster, placer):
    start_pod(cluster, "stranger")
    try:
        found = placer.json("place", "small.onnx", "--device", placer.node, "--deploy", "--image", "worker:1", *placer.access,
                            "--advertise", NODE_ADDRESS, "--json", timeout=180)
        deployed = found["deployed"]
        assert deployed["node"] == placer.node and deployed["engine"] == "opencv" and deployed["measured_seconds"] > 0
        pod = json.loads(cluster.kubectl("get", "pod", deployed["worker"], "-o", "json"))
        assert pod["spec"]["nodeName"] == placer.node and pod["status"]["phase"] == "Running"
        assert pod["metadata"]["labels"]["assay.placement"] == "worker"
        assert deployed["worker"].startswith("assay-small-")
        assert len((placer.folder / "placed.csv").read_text().splitlines()) == 2
        refused = placer.assay("place", "--end", "stranger", *placer.access)
        assert refused.returncode == 2 and "was not started by assay place" in refused.stderr
        ended = placer.assay("place", "--end", deployed["worker"], *placer.access)
        assert ended.returncode == 0, ended.stderr
        wait_until(lambda: cluster.kubectl("get", "pods", "-l", "assay.placement", "-o", "name") == "", 180, "it is gone", every=0.2)
        assert "stranger" in cluster.kubectl("get", "pods", "-o", "name")
    finally:
        cluster.end_pod("stranger")


def test_a_pod_that_ends_or_fits_nowhere_is_told_and_removed(cluster, placer):
    words = ["place", "small.onnx", "--deploy", *placer.access, "--advertise", NODE_ADDRESS]
    broken = placer.assay(*words, "--device", placer.node, "--image", "broken:1", timeout=180)
    assert broken.returncode == 3, broken.stderr
    assert "it ended with 4 (Error): no such operator; it was ended again" in broken.stderr
    nowhere = placer.assay(*words, "--device", "elsewhere", "--image", "worker:1", "--wait", "3s")
    assert nowhere.returncode == 4 and "it does not serve after 3 s" in nowhere.stderr
    wait_until(lambda: cluster.kubectl("get", "pods", "-l", "assay.placement", "-o", "name") == "", 180, "both are gone", every=0.2)
