# SPDX-License-Identifier: Apache-2.0
"""What `kubectl apply -k deploy/kubernetes` brings to a real cluster, with and without a Prometheus, and that `kubectl
delete -k` takes all of it away. The manifests are applied as they are; only the images come from this machine."""
import base64
import functools
import json
import pathlib
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import discovery
import images
import node_agent
import pytest
import training_jobs
import yaml
from clusters import NODE_ADDRESS
from conftest import ASSAY, BIN, HERE, wait_until

ROOT = HERE.parents[1]
PLAIN = ROOT / "deploy/kubernetes"
WITH_PROMETHEUS = PLAIN / "with-prometheus"
OVERLAY = pathlib.Path(__file__).parent / "overlay"
RECORDING = ROOT / "tests/recordings/jobs/training-train_cnn-large.csv"
LABEL = "app.kubernetes.io/part-of=assay"
PAGE = "http://127.0.0.1:9090"
VERSION = re.search(r"project\(assay VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

DCGM = """
apiVersion: v1
kind: Pod
metadata: {name: dcgm-exporter-0, labels: {app: dcgm-exporter}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: exporter
    image: python:1
    command: [python3, /replay/dcgm_replay.py, --hostname, NODE, --gpus, "2", --job,
              0=team/trainer-worker-0/main=/replay/recording.csv]
    ports: [{name: metrics, containerPort: 9400}]
    volumeMounts: [{name: replay, mountPath: /replay}]
  volumes: [{name: replay, configMap: {name: replay}}]
"""
ANNOTATED = """
apiVersion: v1
kind: Pod
metadata: {name: annotated, annotations: {prometheus.io/scrape: "true", prometheus.io/port: "8080",
                                          prometheus.io/path: /numbers}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: busybox:1
    command: [sh, -c, mkdir /www && echo answer_of_a_pod 42 > /www/numbers && exec httpd -f -p 8080 -h /www]
"""
# What the profiler's account may do, and what it must not: verb, resource, further words.
MAY = [("list", "pods"), ("watch", "pods"), ("patch", "pods"), ("get", "nodes"), ("watch", "nodes"), ("patch", "nodes"),
       ("list", "jobs.batch"), ("patch", "jobs.batch"), ("get", "replicasets.apps"), ("list", "replicasets.apps"),
       ("list", "deployments.apps"), ("watch", "deployments.apps"), ("list", "statefulsets.apps"), ("watch", "statefulsets.apps"),
       ("watch", "mpijobs.kubeflow.org"), ("patch", "mpijobs.kubeflow.org"), ("patch", "pytorchjobs.kubeflow.org"),
       ("get", "namespaces/kube-system"),
       ("get", "leases.coordination.k8s.io", "-n", "assay"), ("create", "leases.coordination.k8s.io", "-n", "assay"),
       ("update", "leases.coordination.k8s.io", "-n", "assay")]
MAY_NOT = [("create", "pods"), ("delete", "pods"), ("update", "pods"), ("create", "pods", "--subresource=exec"),
           ("get", "pods", "--subresource=log"), ("update", "nodes"), ("delete", "nodes"),
           ("patch", "nodes", "--subresource=status"), ("get", "nodes", "--subresource=proxy"), ("create", "jobs.batch"),
           ("delete", "jobs.batch"), ("patch", "replicasets.apps"), ("patch", "deployments.apps"),
           ("patch", "statefulsets.apps"), ("create", "deployments.apps"), ("list", "daemonsets.apps"),
           ("delete", "mpijobs.kubeflow.org"), ("get", "secrets"), ("get", "secrets", "-n", "assay"), ("list", "configmaps"),
           ("get", "namespaces/default"), ("list", "namespaces"), ("patch", "namespaces/kube-system"),
           ("create", "leases.coordination.k8s.io", "-n", "kube-system"),
           ("delete", "leases.coordination.k8s.io", "-n", "assay"),
           ("create", "clusterrolebindings.rbac.authorization.k8s.io"), ("impersonate", "users"), ("*", "*")]


def get(url, token=None):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def query(expression):
    """Labels and value of each series."""
    answer = json.loads(get(f"{PAGE}/api/v1/query?query={urllib.parse.quote(expression)}"))
    return [(one["metric"], float(one["value"][1])) for one in answer["data"]["result"]]


def targets():
    """Of Prometheus: job -> health and last error of each target."""
    found = {}
    for target in json.loads(get(f"{PAGE}/api/v1/targets?state=active"))["data"]["activeTargets"]:
        found.setdefault(target["labels"]["job"], []).append((target["health"], target["lastError"]))
    return found


def apply(cluster, folder):
    cluster.kubectl("apply", "-k", str(folder))


def is_rolled_out(cluster, what, seconds=180):
    done = cluster.try_kubectl("rollout", "status", what, "-n", "assay", f"--timeout={seconds}s", timeout=seconds + 10)
    pods = cluster.kubectl("get", "pods", "-n", "assay", "-o", "wide")
    assert done.returncode == 0, done.stdout + done.stderr + pods + cluster.kubectl(
        "describe", "pods", "-n", "assay") + cluster.try_kubectl("logs", what, "-n", "assay").stdout


def left_over(cluster):
    """All objects with our label, of any kind."""
    kinds = cluster.kubectl("api-resources", "--verbs=list", "-o", "name").split()
    kinds = [kind for kind in kinds if "metrics" not in kind and not kind.startswith("events")]
    return cluster.names(",".join(kinds), "--all-namespaces", "-l", LABEL)


def delete(cluster, folder):
    cluster.kubectl("delete", "-k", str(folder), "--ignore-not-found", timeout=180)


@pytest.fixture(scope="module", autouse=True)
def images_are_there(cluster):
    node_agent.stop(cluster)
    subprocess.run([ROOT / "tools/image.sh", f"assay:{VERSION}"], env={**cluster.env, "ASSAY_BIN": str(BIN)}, check=True,
                   timeout=300)
    cluster.add_image("prom/prometheus:v2.42.0", discovery.prometheus_root())
    cluster.add_image("python:1", images.python_root().read_bytes(), "ENV PATH=/usr/bin")


@pytest.fixture(scope="module")
def finder(cluster):
    """Stands in for Prometheus's discovery, by the rights that its account has."""
    found = discovery.Discovery(cluster, functools.cache(lambda: cluster.token("assay-prometheus", "assay")))
    yield found
    found.close()


@pytest.fixture(scope="module")
def deployed(cluster, finder):
    apply(cluster, WITH_PROMETHEUS)
    yield cluster
    delete(cluster, WITH_PROMETHEUS)
    subprocess.run([ASSAY, "cluster", "clean"], env=cluster.env, check=True, timeout=60)


@pytest.fixture(scope="module")
def scraped(deployed):
    """Beside it an exporter of GPUs and a pod that asks to be scraped."""
    node = deployed.json("nodes")["items"][0]["metadata"]["name"]
    deployed.kubectl("create", "configmap", "replay", f"--from-file={pathlib.Path(__file__).parent}/dcgm_replay.py",
                     f"--from-file=recording.csv={RECORDING}")
    deployed.kubectl("create", "-f", "-", text=DCGM.replace("NODE", node) + "---" + ANNOTATED)
    is_rolled_out(deployed, "deployment/assay-prometheus")
    yield node
    deployed.kubectl("delete", "pod/dcgm-exporter-0", "pod/annotated", "configmap/replay")


def test_manifests_name_this_version_and_bear_the_label(cluster):
    for folder in (PLAIN, WITH_PROMETHEUS):
        made = list(yaml.safe_load_all(cluster.kubectl("kustomize", str(folder))))
        assert len(made) > 10
        for one in made:
            assert one["metadata"]["labels"]["app.kubernetes.io/part-of"] == "assay", one["metadata"]
            for container in one["spec"]["template"]["spec"]["containers"] if "template" in one.get("spec", {}) else ():
                assert container["image"] in (f"assay:{VERSION}", "prom/prometheus:v2.42.0")


def test_without_prometheus_the_agent_runs_and_all_of_it_goes(cluster):
    apply(cluster, PLAIN)
    try:
        is_rolled_out(cluster, "daemonset/assay-agent")
        agent = f"http://{NODE_ADDRESS}:9410"
        assert get(f"{agent}/healthz") == "ok\n"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(f"{agent}/metrics")
        token = base64.b64decode(cluster.json("secret", "assay-reader", "-n", "assay")["data"]["token"]).decode()
        metrics = get(f"{agent}/metrics", token)
        assert "\nassay_agent_apps " in metrics and "\nnode_cpu_seconds_total{" in metrics
        assert "\ncontainer_cpu_usage_seconds_total{" not in metrics, "the kubelet tells those"

        def names():
            return {app.get("pod") for app in json.loads(get(f"{agent}/api/v1/apps", token))["apps"]}
        own = cluster.json("pods", "-n", "assay", "-l", "app.kubernetes.io/name=assay-agent")["items"][0]
        wait_until(lambda: own["metadata"]["name"] in names(), 180, lambda: f"it names its own pod: {names()}", every=0.2)
        log = cluster.kubectl("logs", own["metadata"]["name"], "-n", "assay")
        # Kernels that share real time out by control groups (CONFIG_RT_GROUP_SCHED) give containers none.
        refused = [line for line in log.splitlines() if "may not" in line and "be woken first" not in line]
        assert refused == [] and "cannot" not in log, log
        # The reader's token opens the agents and nothing of the cluster.
        assert not cluster.may("assay:assay-reader", "get", "pods", "-n", "assay")
        assert not cluster.may("assay:assay-agent", "patch", "pods") and cluster.may("assay:assay-agent", "watch", "pods")
    finally:
        delete(cluster, PLAIN)
    assert left_over(cluster) == [] and "namespace/assay" not in cluster.names("namespaces")


def test_prometheus_scrapes_kubelets_agents_gpus_and_annotated_pods(cluster, scraped):
    wait_until(lambda: all([health for health, _ in targets().get(job, [])] == ["up"]
                           for job in ("cadvisor", "assay-agent", "dcgm", "pods")), 180, lambda: f"all are up: {targets()}",
               every=0.5)
    node = scraped
    pod = wait_until(lambda: query('container_memory_working_set_bytes{pod="annotated",container="main"}'), 180,
                     "the kubelet tells of a pod", every=0.5)
    assert pod[0][0]["node"] == node and pod[0][0]["namespace"] == "default" and pod[0][1] > 0

    def values(name):
        """A target is up a moment before its values are there."""
        return wait_until(lambda: query(name), 180, f"there is {name}", every=0.5)
    assert values("answer_of_a_pod")[0][0]["pod"] == "annotated"
    assert values("assay_agent_apps")[0][0]["instance"] == node
    used = {labels["gpu"]: (labels, value) for labels, value in values("DCGM_FI_DEV_FB_USED")}
    assert used["0"][0]["pod"] == "trainer-worker-0" and used["0"][0]["namespace"] == "team"
    assert used["0"][0]["Hostname"] == node and used["0"][0]["modelName"] == "NVIDIA H200"
    assert "pod" not in used["1"][0] and used["1"][1] == 1
    # The recorded job had 9.96 GB of the GPU's memory after its first seconds.
    wait_until(lambda: query('DCGM_FI_DEV_FB_USED{gpu="0"}')[0][1] == round(9957e6 / (1 << 20)) + 1, 180, "it is replayed",
               every=0.5)


def test_the_page_is_at_port_9090_of_the_node(cluster, scraped):
    for host in ("127.0.0.1", NODE_ADDRESS):
        assert "<title>Prometheus" in get(f"http://{host}:9090/graph")


@pytest.mark.parametrize("wanted, table", [(True, MAY), (False, MAY_NOT)])
def test_the_profiler_may_read_and_annotate_and_no_more(deployed, wanted, table):
    training_jobs.define_kinds(deployed)
    wrong = [entry for entry in table if deployed.may("assay:assay-profiler", entry[0], entry[1], *entry[2:]) != wanted]
    assert wrong == []


def test_the_profiler_annotates_a_training_job_and_cannot_delete_it(deployed):
    training_jobs.define_kinds(deployed)
    operator = training_jobs.Operator(deployed, training_jobs.mpi_job("annotated-job"))
    account = "--as=system:serviceaccount:assay:assay-profiler"
    try:
        deployed.kubectl("annotate", operator.resource, operator.name, "ai.centaurus.io/known=yes", account)
        assert operator.read()["metadata"]["annotations"]["ai.centaurus.io/known"] == "yes"
        refused = deployed.try_kubectl("delete", operator.resource, operator.name, account)
        assert refused.returncode != 0 and "Forbidden" in refused.stderr, refused.stderr
    finally:
        operator.delete()


def test_prometheus_may_find_and_scrape_and_no_more(deployed):
    account = "assay:assay-prometheus"
    assert deployed.may(account, "watch", "pods") and deployed.may(account, "get", "nodes", "--subresource=metrics")
    for verb, what, *more in (("patch", "pods"), ("get", "nodes", "--subresource=proxy"), ("get", "secrets", "-n", "assay"),
                              ("list", "services"), ("patch", "nodes")):
        assert not deployed.may(account, verb, what, *more), (verb, what)


def written_by_the_profiler(cluster, what):
    """Keys of an object that are in its name."""
    books = cluster.json(what)["metadata"].get("managedFields", [])
    return {key.removeprefix("f:ai.centaurus.io/") for book in books if book["manager"] == "assay-profiler"
            for key in book["fieldsV1"].get("f:metadata", {}).get("f:annotations", {})}


def test_the_profiler_runs_as_nobody_annotates_and_tells_prometheus_of_itself(cluster, scraped):
    apply(cluster, OVERLAY)
    cluster.kubectl("rollout", "restart", "deployment/assay-profiler", "-n", "assay")  # it reads its ConfigMap at the start
    is_rolled_out(cluster, "deployment/assay-profiler")
    assert cluster.names("leases", "-n", "assay") != []
    # By the agent's metrics, the exporter's and the kubelet's, as this Prometheus has them.
    for what, keys in (f"node/{scraped}", {"usage", "gpu-static", "gpu-0", "gpu-1"}), ("pod/annotated", {"cpu_mem", "usage"}):
        wait_until(lambda what=what, keys=keys: keys <= written_by_the_profiler(cluster, what), 120,
                   lambda what=what: f"{written_by_the_profiler(cluster, what)} of {what}\n"
                   + cluster.kubectl("logs", "deployment/assay-profiler", "-n", "assay"), every=0.5)
    wait_until(lambda: targets().get("assay-profiler") == [("up", "")], 180, lambda: f"it is scraped: {targets()}", every=0.5)


def test_delete_takes_everything_away_also_without_words(deployed):
    """What has gone with the namespace, or with its account, before kubectl comes to it, it calls an error."""
    assert left_over(deployed) != []
    errors = deployed.try_kubectl("delete", "-k", str(WITH_PROMETHEUS), timeout=180).stderr.splitlines()
    assert [line for line in errors if not line.endswith(" not found")] == []
    wait_until(lambda: left_over(deployed) == [], 180, lambda: f"all is gone: {left_over(deployed)}", every=1)
    assert "namespace/assay" not in deployed.names("namespaces")
