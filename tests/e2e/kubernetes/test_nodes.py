# SPDX-License-Identifier: Apache-2.0
"""Nodes of a real Kubernetes that come and go while Assay works on them."""
import json

import ghost_node
import node_agent
import pytest
from conftest import wait_until
from node_agent import is_used
from trial_jobs import JOB, gone, left, measured


@pytest.fixture(scope="module", autouse=True)
def here(cluster, tmp_path_factory):
    """The name of the node that has an agent."""
    node_agent.start(cluster, tmp_path_factory.mktemp("agent"))
    name = cluster.names("nodes")[0].split("/")[1]
    cluster.kubectl("label", "node", name, "board=here", "--overwrite")
    return name


@pytest.fixture
def place(cluster, place):
    place.env["KUBECONFIG"] = cluster.env["KUBECONFIG"]
    (place.folder / "job.yaml").write_text(JOB)
    return place


@pytest.fixture(scope="module")
def second(cluster, here, tmp_path_factory):
    """The name of another node of another kind, with an agent and an image too."""
    node_agent.add_load_image(cluster)  # images are those of the first
    try:
        name = cluster.call("second-up", timeout=300)
        cluster.kubectl("label", "node", name, "board=there", "--overwrite")
        node_agent.add(cluster, tmp_path_factory.mktemp("second"), "agent-2", name)
        # A moment after it is ready, the cluster says so to the scheduler too.
        wait_until(lambda: not cluster.json("node", name)["spec"].get("taints"), 120, "pods may come", every=0.2)
        yield name
    finally:
        cluster.call("second-down")
        others = [node for node in cluster.names("nodes") if node != f"node/{here}"]
        if others:
            cluster.kubectl("delete", *others)
        cluster.try_kubectl("delete", "pod", "agent-2", "-n", "assay", "--force", "--grace-period=0")


@pytest.fixture
def ghost(cluster):
    ghost = ghost_node.GhostNode(cluster, {"board": "ghost"})
    yield ghost
    ghost.remove()


def told(process, words):
    """Waits until it says that; what it says later is not kept."""
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended without having said: {words}")


@pytest.mark.parametrize("when, how, seconds", [("starts", "deleted", 20), ("runs", "deleted", 25), ("runs", "silent", 45)])
def test_a_node_that_disappears_loses_its_trial_alone(cluster, here, place, ghost, when, how, seconds):
    running = place.start("cluster", "trial", "-f", "job.yaml", "--node-label", "board", "--gpus", "here:0.2;ghost:0.2",
                          "--most", "2", "--sure", "1", "--at-once", "2", *measured(f"{seconds}s", "90s"), "--json")
    pod = wait_until(ghost.pod, 150, "the scheduler has chosen it", every=0.2)
    if when == "runs":
        ghost.run(pod)
        told(running, "ghost x 0.2 runs on ghost")
    if how == "deleted":
        ghost.remove()
    else:
        ghost.say("Unknown")  # as the cluster does after 40 seconds
    # Nobody ends the pod there: the cluster would do so after a minute, or, while there is a node, never.
    wait_until(lambda: pod["metadata"]["name"] not in str(left(cluster, "pods")), 45 if how == "deleted" else 90,
               "its pod is gone", every=0.2)
    out, said = running.communicate(timeout=180)
    assert running.returncode == 0, said
    trials = {one["kind"]: one for one in json.loads(out)["trials"]}
    assert trials["ghost"]["end"] == "lost" and trials["ghost"]["reason"] == "its node ghost disappeared", trials
    assert trials["here"]["end"] == "measured" and trials["here"]["throughput"] > 0, trials
    gone(cluster)
    session = place.json("history", "show", trials["here"]["session"], "--json")
    assert session["device"]["hostname"] == here and session["runs"][0]["footprint"]["cpu_cores"]["mean"] > 0, session
    assert [one["session"] for one in place.json("history", "--json")] == [trials["here"]["session"]]
    answer = place.assay("cluster", "recommend")
    assert answer.returncode == 0 and answer.stdout.startswith("here x 0.2: fastest"), answer


def pods_of(cluster, node, label):
    """Those that run there."""
    pods = cluster.json("pods", "-l", label, "--field-selector", f"spec.nodeName={node}")["items"]
    return [pod["metadata"]["name"] for pod in pods if pod["status"]["phase"] == "Running"]


def test_one_app_is_measured_on_both_nodes_each_by_its_own_agent(here, second, place):
    words = ["run", "--runtime", "kubernetes", "--each-node-like", "board", "load:1", "--", "known_load", "1", "1", "0"]
    done = place.assay(*words, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    head, *lines = done.stdout.strip().splitlines()[-3:]
    assert head.split()[:3] == ["board", "node", "status"], done.stdout
    assert [line.split()[:3] for line in lines] == [["here", here, "finished"], ["there", second, "finished"]], done.stdout
    document = place.json(*words[:1], "--json", *words[1:], timeout=180)
    assert [(one["kind"], one["session"]["device"]["hostname"]) for one in document["kinds"]] == [
        ("here", here), ("there", second)]
    for one in document["kinds"]:
        run, = one["session"]["runs"]
        assert run["elsewhere"]["node"] == one["node"] and run["elsewhere"]["measured_by"] == f"agent on {one['node']}", run
        assert is_used(1, run["footprint"]["cpu_cores"]["mean"] * run["duration_seconds"], run), run
        # All nodes have this machine's clock: the offset has to be nothing, within what it claims.
        assert abs(run["elsewhere"]["clock_offset_seconds"]) <= run["elsewhere"]["clock_uncertainty_seconds"] + 0.002, run
        assert 0 < run["elsewhere"]["clock_uncertainty_seconds"] < 0.5, run


def test_a_kind_that_could_never_hold_it_is_an_error_and_the_others_run(cluster, here, place):
    ghost = ghost_node.GhostNode(cluster, {"board": "ghost"}, cpu="100m")
    try:
        cluster.kubectl("create", "-f", "-", text=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {
                "name": "agent-ghost", "namespace": "assay", "labels": {"app.kubernetes.io/name": "assay-agent"}},
            "spec": {"nodeName": ghost_node.NAME, "containers": [{"name": "agent", "image": "none:1"}]}}))
        ghost.run(cluster.json("pod", "agent-ghost", "-n", "assay"))
        done = place.assay("run", "--json", "--runtime", "kubernetes", "--each-node-like", "board=[gh]*", "--cpus", "0.3", "busybox:1",
                           "--", "true", timeout=120)
    finally:
        cluster.kubectl("delete", "pod", "agent-ghost", "-n", "assay", "--force", "--grace-period=0")
        ghost.remove()
    assert done.returncode == 4, done.stderr
    kinds = {one["kind"]: one for one in json.loads(done.stdout)["kinds"]}
    assert kinds["ghost"]["error"].startswith("--cpus 0.3: the only suitable node with board=ghost, ghost, has 0.1"), kinds
    assert kinds["here"]["session"]["runs"][0]["status"] == "finished", kinds


def test_a_run_goes_to_the_node_with_fewer_pods_unless_it_is_kept_for_others(cluster, here, second, place):
    def is_chosen(node, *words):
        """Among nodes that are ready, with agents that are: on a busy machine they are not for a moment, and left out."""
        def are_ready():
            found = [*cluster.json("nodes")["items"], *cluster.json("pods", "-n", "assay")["items"]]
            return all(condition["status"] == "True" for one in found for condition in one["status"]["conditions"]
                       if condition["type"] == "Ready")

        said = []

        def found():
            wait_until(are_ready, 120, "all are ready", every=0.2)
            done = place.assay("run", "--json", "--runtime", "kubernetes", *words, "load:1", "--", "busybox", "sleep", "1", timeout=300)
            if not are_ready() or done.returncode != 0:
                said.append(done.stderr)
                return False
            assert json.loads(done.stdout)["runs"][0]["elsewhere"]["node"] == node, done.stdout
            return True

        wait_until(found, 240, lambda: f"it goes to {node}: {said}")

    for name in ("first", "other"):
        cluster.kubectl("create", "-f", "-", text=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
                "nodeName": here, "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "busybox:1", "command": ["sleep", "600"]}]}}))
    try:
        is_chosen(second)
        is_chosen(here, "--node-selector", "board=here")
        cluster.kubectl("taint", "node", second, "team=x:NoSchedule")
        is_chosen(here)

        def kept():
            done = place.assay("run", "--runtime", "kubernetes", "--node-selector", "board=there", "load:1")
            assert done.returncode == 4, done.stderr
            return f"{second} is kept for others by its taint team" in done.stderr

        wait_until(kept, 180, "it is told whom it is kept for")
    finally:
        cluster.try_kubectl("taint", "node", second, "team-")
        cluster.kubectl("delete", "pod", "first", "other")


def test_trials_at_once_are_on_nodes_of_their_own(cluster, here, second, place):
    found = place.json("cluster", "trial", "-f", "job.yaml", "--gpus", "0.1,0.2", "--all", "--at-once", "2",
                       *measured("40s", "120s"), "--json", timeout=300)
    assert [one["end"] for one in found["trials"]] == ["measured", "measured"], found
    assert sorted(node for one in found["trials"] for node in one["nodes"]) == [here, second], found
    runs = []
    for trial in found["trials"]:
        session = place.json("history", "show", trial["session"], "--json")
        run, = session["runs"]
        assert session["device"]["hostname"] == trial["nodes"][0]
        assert run["elsewhere"]["measured_by"] == f"agent on {trial['nodes'][0]}", run
        assert run["footprint"]["cpu_cores"]["mean"] == pytest.approx(trial["count"], rel=0.35), run["footprint"]
        runs.append(run)
    assert max(run["started_unix_ns"] for run in runs) < min(run["ended_unix_ns"] for run in runs), runs
    gone(cluster)


def test_a_node_that_is_switched_off_ends_what_runs_there(cluster, here, second, place):
    """The last one: the node is gone for good."""
    trials = place.start("cluster", "trial", "-f", "job.yaml", "--node-label", "board", "--gpus", "here:0.2;there:0.2",
                         "--most", "2", "--sure", "1", "--at-once", "2", *measured("110s", "120s"), "--json")
    run = place.start("run", "--json", "--runtime", "kubernetes", "--node-selector", "board=there", "load:1", "--", "busybox",
                      "sleep", "600")
    told(trials, f"there x 0.2 runs on {second}")
    wait_until(lambda: pods_of(cluster, second, "assay.dev/session"), 180, "the run is there too", every=0.2)
    cluster.call("second-down")
    cluster.kubectl("delete", "node", second)
    wait_until(lambda: second not in cluster.kubectl("get", "pods", "-l", "assay.trial", "-o", "wide"), 180, "its pod is gone", every=0.2)
    out, said = run.communicate(timeout=180)
    assert run.returncode == 3, said
    ended, = json.loads(out)["runs"]
    assert ended["status"] == "failed" and "its pod was deleted" in ended["exit"]["detail"], ended
    out, said = trials.communicate(timeout=180)
    assert trials.returncode == 0, said
    ends = {one["kind"]: one for one in json.loads(out)["trials"]}
    assert ends["here"]["end"] == "measured" and ends["there"]["end"] == "lost", ends
    assert ends["there"]["reason"] == f"its node {second} disappeared"
    # What was measured until then is kept.
    kept, = place.json("history", "show", ends["there"]["session"], "--json")["runs"]
    assert kept["status"] == "interrupted" and kept["footprint"]["memory_bytes"]["peak"] > 0, kept
    gone(cluster)
    wait_until(lambda: not cluster.names("jobs,pods", "-l", "assay.dev/session"), 120, "nor is the run left", every=0.2)
