# SPDX-License-Identifier: Apache-2.0
"""Sessions on a node of a real Kubernetes: Jobs, measured by the node's agent, on the clock of whoever asked."""
import json
import os
import signal

import node_agent
import pytest
from conftest import wait_until
from node_agent import is_used

MB = 1 << 20


@pytest.fixture(scope="module")
def node(cluster, tmp_path_factory):
    """The cluster's node, with an agent in a pod that wants a token, and an image to run."""
    node_agent.add_load_image(cluster)
    node_agent.start(cluster, tmp_path_factory.mktemp("agent"))
    name = cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
    cluster.kubectl("label", "node", name, "board=orin", "--overwrite")
    return name


@pytest.fixture
def place(cluster, node, place):
    """Runs `assay` for the cluster."""
    place.env["KUBECONFIG"] = cluster.env["KUBECONFIG"]
    place.words = ["--runtime", "kubernetes", "--hooks-folder", cluster.hooks]
    yield place
    wait_until(lambda: jobs(cluster) == [], 180, lambda: f"no Job is left: {jobs(cluster)}", every=0.2)


def jobs(cluster):
    return cluster.kubectl("get", "jobs", "-l", "assay.dev/session", "-o", "name").split()


def test_a_session_on_a_node_has_the_series_of_any_other(cluster, node, place):
    document = place.json("run", "--json", *place.words, "--node-selector", "board=orin", "--memory", "256MB", "load:1", "--",
                          "known_load", "1", "3", str(64 * MB), timeout=120)
    assert document["device"]["hostname"] == node and document["device"]["cores"] == os.cpu_count()
    run = document["runs"][0]
    assert run["status"] == "finished" and run["exit"]["code"] == 0, run
    assert run["runtime"] == "kubernetes" and run["isolation"] == "pod"
    assert run["elsewhere"]["node"] == node and run["elsewhere"]["measured_by"] == f"agent on {node}"
    # Here both clocks are one: what is measured has to be nothing, within what it claims.
    assert abs(run["elsewhere"]["clock_offset_seconds"]) <= run["elsewhere"]["clock_uncertainty_seconds"] + 0.002
    assert run["elsewhere"]["clock_uncertainty_seconds"] < 0.2
    footprint = run["footprint"]
    assert footprint["cpu_cores"]["source"] == f"agent on {node} (cgroup)"
    used = footprint["cpu_cores"]["mean"] * run["duration_seconds"]
    assert is_used(3, used, run), run
    assert footprint["memory_bytes"]["peak"] == pytest.approx(64 * MB, rel=0.15)
    assert is_used(3, run["exit"]["user_seconds"] + run["exit"]["system_seconds"], run), run
    assert "cpu" in (place.folder / "sessions" / document["session"] / "run-1/stdout.log").read_text()


def test_what_the_app_reports_and_its_goals_come_home(place):
    run = place.run(*place.words, "--cpus", "1", "--goal", "fps >= 1", "load:1", "--", "frames_load", "1", "20", "5",
                    timeout=300)
    assert run["metrics"]["fps"]["min"] > 0, "what ended is not told as nothing"
    assert 5 < run["metrics"]["fps"]["mean"] < 60, run  # 50 where it has a core for itself
    assert run["goals"][0]["met"]
    missed = place.run(*place.words, "--goal", "fps >= 1000", "load:1", "--", "frames_load", "1", "20", "4", expect=99,
                       timeout=300)
    assert not missed["goals"][0]["met"]


def test_ends_are_told_as_of_any_other_run(place):
    failed = place.run(*place.words, "load:1", "--", "busybox", "sh", "-c", "echo last words; exit 3", expect=3, timeout=300)
    assert failed["status"] == "failed" and failed["exit"]["code"] == 3
    oom = place.run(*place.words, "--memory", "32MB", "load:1", "--", "known_load", "1", "1", str(100 * MB), expect=3,
                    timeout=300)
    assert oom["status"] == "oom" and "out of memory" in oom["exit"]["detail"], oom
    late = place.run(*place.words, "--timeout", "3s", "--grace", "2s", "load:1", "--", "busybox", "sleep", "600", timeout=300)
    assert late["status"] == "timeout", late
    assert 2.5 < late["duration_seconds"] < 60


def test_what_cannot_start_is_a_sentence(cluster, place):
    image = place.assay("run", *place.words, "nobody/nothing:1", timeout=300)
    assert image.returncode == 4 and "image nobody/nothing:1 cannot run on" in image.stderr, image.stderr
    labels = place.assay("run", *place.words, "--node-selector", "board=none", "load:1", timeout=300)
    assert labels.returncode == 2 and "the cluster has no node with board=none" in labels.stderr
    agent = place.assay("run", *place.words, "--agent-namespace", "default", "load:1", timeout=300)
    assert agent.returncode == 4 and "kubectl apply -k deploy/kubernetes" in agent.stderr
    missing = place.assay("run", *place.words, "--namespace", "missing", "load:1", timeout=300)
    assert missing.returncode == 4 and 'namespaces "missing" not found' in missing.stderr, missing.stderr
    cluster.kubectl("create", "namespace", "small")
    cluster.kubectl("create", "quota", "q", "-n", "small", "--hard=pods=0")
    cluster.wait_for_quota("q", "small")
    quota = place.assay("run", *place.words, "--namespace", "small", "load:1", "--", "busybox", "true", timeout=300)
    assert quota.returncode == 4 and "exceeded quota" in quota.stderr, quota.stderr
    cluster.kubectl("delete", "namespace", "small", "--wait=false")


def test_what_its_node_could_never_hold_is_refused_at_once(cluster, node, place):
    for words, told in ((("--cpus", "500"), f"--cpus 500: the only suitable node, {node}, has "),
                        (("--memory", "900TB"), f"--memory 900 TB: the only suitable node, {node}, has "),
                        (("--gpus", "99"), f"--gpus 99: the only suitable node, {node}, has ")):  # other tests give it some
        refused = place.assay("run", *place.words, *words, "load:1", "--", "busybox", "true", timeout=30)
        assert refused.returncode == 4 and told in refused.stderr, refused.stderr
        assert jobs(cluster) == []


def test_room_that_others_have_at_present_is_waited_for(cluster, node, place):
    cores = float(cluster.kubectl("get", "node", node, "-o", "jsonpath={.status.allocatable.cpu}"))
    cluster.kubectl("create", "-f", "-", text=json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "taker"}, "spec": {
            "nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [{
                "name": "main", "image": "busybox:1", "command": ["sleep", "600"],
                "resources": {"requests": {"cpu": f"{cores * 1000 - 200:.0f}m"}}}]}}))
    try:
        wait_until(lambda: cluster.kubectl("get", "pod", "taker", "-o", "jsonpath={.status.phase}") == "Running", 120, "it has the room",
                   every=0.2)
        late = place.assay("run", *place.words, "--cpus", str(cores), "--start-timeout", "20s", "load:1", "--", "busybox", "true",
                           timeout=300)
        assert late.returncode == 4 and "Insufficient cpu" in late.stderr, late.stderr
        process = place.start("run", *place.words, "--cpus", "0.3", "load:1", "--", "busybox", "true")
        wait_until(lambda: jobs(cluster), 180, "there is a Job", every=0.2)
    finally:
        cluster.kubectl("delete", "pod", "taker")
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said


def test_an_agent_that_is_not_ready_and_a_token_that_is_refused_are_told_as_such(cluster, node, place):
    (place.folder / "word").write_text("wrong")
    refused = place.assay("run", *place.words, "--agent-token-file", "word", "load:1", timeout=300)
    assert refused.returncode == 4 and f"the agent on {node} refused the token from word" in refused.stderr, refused.stderr
    cluster.kubectl("create", "-f", "-", text=json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "broken", "labels": {"is": "broken"}}, "spec": {
            "nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [{
                "name": "main", "image": "busybox:1", "command": ["false"]}]}}))
    try:
        def told():
            done = place.assay("run", *place.words, "--agent-namespace", "default", "--agent-label", "is=broken", "load:1", timeout=300)
            assert done.returncode == 4, done.stderr
            return "CrashLoopBackOff" in done.stderr and done.stderr

        said = wait_until(told, 180, "it is told that it crashes")
        assert f"its pod broken on {node} is not ready" in said and "kubectl -n default logs broken" in said, said
        assert "kubectl apply" not in said, said
    finally:
        cluster.kubectl("delete", "pod", "broken")


def test_an_interrupt_ends_the_job_and_cleanup_what_a_kill_left(cluster, place):
    def start():
        process = place.start("run", *place.words, "--grace", "2s", "load:1", "--", "busybox", "sleep", "600")
        wait_until(lambda: jobs(cluster), 180, "there is a Job", every=0.2)
        wait_until(lambda: "Running" in cluster.kubectl("get", "pods", "-l", "assay.dev/session"), 180, "it runs", every=0.2)
        return process

    process = start()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130, said
    wait_until(lambda: jobs(cluster) == [], 120, "its Job is gone", every=0.2)
    process = start()
    process.kill()
    process.communicate(timeout=300)
    assert len(jobs(cluster)) == 1
    cleaned = place.assay("cleanup", timeout=300)
    assert cleaned.returncode == 0 and "deleted Job assay-" in cleaned.stdout, cleaned.stdout + cleaned.stderr
    wait_until(lambda: jobs(cluster) == [], 120, "it is gone", every=0.2)


def test_each_kind_of_node_is_a_line_of_the_matrix(node, place):
    words = [*place.words, "--each-node-like", "board", "load:1", "--", "known_load", "1", "1", "0"]
    done = place.assay("run", *words, timeout=300)
    assert done.returncode == 0, done.stderr
    head, line = done.stdout.strip().splitlines()[-2:]
    assert head.split() == ["board", "node", "status", "duration", "cores", "memory", "goals"]
    assert line.split()[:3] == ["orin", node, "finished"]
    document = place.json("run", "--json", *words, timeout=300)
    assert [(kind["kind"], kind["node"]) for kind in document["kinds"]] == [("orin", node)]
    assert document["kinds"][0]["session"]["runs"][0]["status"] == "finished"


def followed(place):
    """The log of the only run of `place`, once assay has seen its pod run: were that gone before, it would take the Job's next."""
    return wait_until(lambda: next(place.folder.glob("sessions/*/run-1/stdout.log"), None), 180, "its output is followed")


def pod_of(cluster, log):
    """By its session: pods of tests before may still be there."""
    pod, = cluster.names("pods", "-l", f"assay.dev/session={log.parents[1].name}")
    return pod


def test_an_api_server_that_is_away_in_the_middle_loses_nothing(cluster, place):
    script = "echo pid $$; i=0; while [ $i -lt 20 ]; do echo line $i; i=$((i+1)); sleep 1; done"
    process = place.start("run", "--json", *place.words, "load:1", "--", "busybox", "sh", "-c", script)
    log = followed(place)
    wait_until(lambda: "line 2" in log.read_text(), 180, "its output comes")
    try:
        cluster.call("end-api")
    finally:
        cluster.call("start-api", timeout=300)
    out, said = process.communicate(timeout=300)
    cluster.wait_for_controllers()
    assert process.returncode == 0, said
    run = json.loads(out)["runs"][0]
    assert run["status"] == "finished" and run["exit"]["code"] == 0, run
    assert log.read_text() == "pid 1\n" + "".join(f"line {i}\n" for i in range(20))
    gaps = run["not_measured"]
    assert any("did not answer" in gap["why"] for gap in gaps), gaps
    assert not any(gap["what"] == "app's output" for gap in gaps), gaps


def test_a_pod_that_somebody_deletes_ends_the_run(cluster, place):
    process = place.start("run", "--json", *place.words, "--grace", "1s", "load:1", "--", "busybox", "sleep", "600")
    cluster.kubectl("delete", pod_of(cluster, followed(place)), "--wait=false")
    out, said = process.communicate(timeout=180)
    assert process.returncode == 3, said
    run = json.loads(out)["runs"][0]
    assert run["status"] == "failed" and run["duration_seconds"] < 120, "the Job's next pod is not this run"


def test_two_sessions_on_one_node_know_of_each_other(cluster, node, place):
    process = place.start("run", *place.words, "--grace", "1s", "load:1", "--", "busybox", "sleep", "600")
    followed(place)
    run = place.run(*place.words, "load:1", "--", "busybox", "true", timeout=300)
    assert any(f"ran beside it on {node}" in gap["why"] for gap in run["not_measured"]), run["not_measured"]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
