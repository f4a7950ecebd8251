# SPDX-License-Identifier: Apache-2.0
"""`assay cluster trial` in a real Kubernetes, with CPUs as what is counted."""
import json
import signal

import node_agent
import pytest
import training_jobs
from conftest import wait_until
from trial_jobs import JOB, STEPS, gone, left, measured

QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: small}
spec: {hard: {requests.cpu: 300m}}
"""


@pytest.fixture(scope="module", autouse=True)
def agent(cluster, tmp_path_factory):
    """Gives the folder of its socket."""
    return node_agent.start(cluster, tmp_path_factory.mktemp("agent"))


@pytest.fixture
def place(cluster, place):
    place.env["KUBECONFIG"] = cluster.env["KUBECONFIG"]
    (place.folder / "job.yaml").write_text(JOB)
    return place


def test_the_best_number_of_cpus_is_found_and_nothing_is_left(cluster, place):
    # The original makes no pods; it only is there.
    cluster.kubectl("create", "-f", "-", text=JOB.replace("spec:\n  template", "spec:\n  parallelism: 0\n  template", 1))
    try:
        found = place.json("cluster", "trial", "-f", "job.yaml", "--gpus", "0.1,0.3,0.9", *measured(), "--price", "0.04",
                           "--json", timeout=300)
        assert found["answer"]["count"] == .9 and found["answer"]["tried"], found
        assert len(found["trials"]) <= 2, "at most half of the choices, rounded up"
        for one in found["trials"]:
            assert one["end"] == "measured" and one["pods"] and one["nodes"] and one["unit_cost"] > 0, one
            assert 0.2 < one["utilization_ratio"] < 1.3 and one["memory_bytes"] > 0  # by the agent: there is no Prometheus here
            assert one["power_watts"] is None  # it is missing, not zero
        written = json.loads(cluster.kubectl("get", "job", "steps", "-o", "json"))["metadata"]["annotations"]
        assert json.loads(written["ai.centaurus.io/trial"])["answer"]["count"] == .9
        told = place.assay("cluster", "recommend")
        assert told.returncode == 0 and told.stdout.startswith("0.9 CPUs: fastest"), told
        gone(cluster)
        check_history(place, found)
    finally:
        cluster.end_job("steps")


def check_history(place, found):
    """Each trial is a session, with what the agent has measured."""
    assert [one["session"] for one in place.json("history", "--json")] == [one["session"] for one in reversed(found["trials"])]
    for trial in found["trials"]:
        session = place.json("history", "show", trial["session"], "--json")
        assert session["labels"]["trial"] == "steps" and session["labels"]["choice"] == f"{trial['count']:g} CPUs", session
        assert session["device"]["hostname"] == trial["nodes"][0] and session["app"]["name"] == "steps"
        run, = session["runs"]
        assert run["status"] == "timeout" and run["elsewhere"]["measured_by"] == f"agent on {trial['nodes'][0]}", run
        # It is always busy, within its limit, but on a busy machine gets less.
        assert 0.3 * trial["count"] < run["footprint"]["cpu_cores"]["mean"] < 1.35 * trial["count"], run["footprint"]
        assert run["footprint"]["memory_bytes"]["peak"] > 0


def test_speeds_are_in_proportion_to_cpus(cluster, place):
    done = place.assay("cluster", "trial", "-f", "job.yaml", "--gpus", "0.2,0.4", "--all", "--at-once", "2", "--share-nodes",
                       *measured("30s"), "--json", "--agent-namespace", "default", timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("trials are not kept in the history: there is no agent of Assay") == 1, done.stderr
    assert place.json("history", "--json") == []
    found = json.loads(done.stdout)
    speeds = {one["count"]: one["throughput"] for one in found["trials"]}
    assert 1.4 < speeds[.4] / speeds[.2] < 3, found  # on a busy machine limits are kept less exactly


def test_what_finds_no_room_is_a_result(cluster, place):
    found = place.json("cluster", "trial", "-f", "job.yaml", "--gpus", "0.2,500", "--all", *measured(), "--json", timeout=300)
    assert found["choices"][1]["no_room"] == "no node has so many cpu" and len(found["trials"]) == 1
    cluster.kubectl("create", "namespace", "tight")
    cluster.kubectl("create", "-n", "tight", "-f", "-", text=QUOTA)
    cluster.wait_for_quota("small", "tight")
    words = ["cluster", "trial", "-f", "job.yaml", "-n", "tight", "--gpus", "0.5", *measured(patience="30s"), "--json"]
    refused = place.json(*words, expect=99, timeout=300)
    assert refused["trials"][0]["end"] == "no room" and "exceeded quota" in refused["trials"][0]["reason"], refused
    assert refused["answer"] is None and not left(cluster, namespace="tight")


def test_gpus_are_counted_and_chosen_by_their_kind(cluster, place):
    node = cluster.give_gpus("NVIDIA-H200", 2)  # as it counts them; the app does not touch any
    log = ["--log-pattern", "step ([0-9]+)", "--log-counts", "--for", "4s", "--warm-up", "2s", "--patience", "40s"]
    found = place.json("cluster", "trial", "-f", "job.yaml", "--gpus", "NVIDIA-H200:2,4;Tesla-T4:1", "--all", *log, "--json",
                       timeout=300)
    trial, = found["trials"]
    assert (trial["kind"], trial["count"], trial["end"], trial["nodes"]) == ("NVIDIA-H200", 2, "measured", [node]), found
    assert {(one["kind"], one["count"]): one.get("no_room") for one in found["choices"]} == {
        ("NVIDIA-H200", 2): None, ("NVIDIA-H200", 4): "no node has so many nvidia.com/gpu",
        ("Tesla-T4", 1): "no node has the label nvidia.com/gpu.product=Tesla-T4; there are NVIDIA-H200"}
    gone(cluster)


def test_a_job_that_more_cpus_make_slower_is_not_called_faster(cluster, place):
    # With more it does eight times the work for each step.
    slower = JOB.replace("i=0; while", "[ $ASSAY_TRIAL_GPUS = 0.2 ] && w=4000 || w=32000; i=0; while").replace("-lt 4000", "-lt $w")
    (place.folder / "job.yaml").write_text(slower)
    found = place.json("cluster", "trial", "-f", "job.yaml", "--gpus", "0.2,0.4", *measured(), "--json", timeout=300)
    assert found["answer"]["count"] == .2 and len(found["trials"]) == 2, found
    speeds = {one["count"]: one["throughput"] for one in found["trials"]}
    assert {one["count"]: one["throughput"] for one in found["choices"]} == pytest.approx(speeds)  # as they were measured
    gone(cluster)


def millicores(amount):
    return int(amount[:-1]) if amount.endswith("m") else round(float(amount) * 1000)


def cores_of_the_node(cluster):
    """What it can give, and what of it no pod asks for, in thousandths."""
    node, = cluster.json("nodes")["items"]
    pods = cluster.json("pods", "-A", "--field-selector",
                        f"spec.nodeName={node['metadata']['name']},status.phase!=Succeeded,status.phase!=Failed")["items"]
    asked = sum(millicores(container.get("resources", {}).get("requests", {}).get("cpu", "0"))
                for pod in pods for container in pod["spec"]["containers"])
    allocatable = millicores(node["status"]["allocatable"]["cpu"])
    return allocatable, allocatable - asked


def test_room_that_others_have_just_then_makes_nothing_clear(cluster, place):
    gone(cluster)
    allocatable, free = cores_of_the_node(cluster)
    wanted = allocatable * 3 // 4 / 1000
    holder = JOB.replace("name: steps", "name: holder").replace(
        "image:", f"resources: {{requests: {{cpu: {free - 100}m}}}}\n        image:")
    cluster.kubectl("create", "-f", "-", text=holder)
    try:
        wait_until(lambda: cluster.kubectl("get", "pods", "-l", "job-name=holder", "-o", "jsonpath={.items[*].status.phase}")
                   == "Running", 180, "it has the room", every=0.2)
        done = place.assay("cluster", "trial", "-f", "job.yaml", "--gpus", f"{wanted:g}", *measured("4s", patience="30s"), "--json",
                           timeout=300)
        assert done.returncode == 4, done
        found = json.loads(done.stdout)
        assert found["answer"] is None and found["trials"][0]["end"] == "no room then", found
        assert "Insufficient cpu" in found["trials"][0]["reason"], found
    finally:
        cluster.end_job("holder")
    gone(cluster)


def test_an_app_that_fails_is_a_result(cluster, place):
    (place.folder / "job.yaml").write_text(JOB.replace("i=0; while", "echo no such model; exit 3; while"))
    found = place.json("cluster", "trial", "-f", "job.yaml", "--gpus", "0.2", *measured(), "--json", expect=99, timeout=300)
    assert found["trials"][0]["end"] == "failed" and "it ended with 3" in found["trials"][0]["reason"], found
    assert "no such model" in found["trials"][0]["reason"]
    gone(cluster)


def test_a_kind_that_is_not_installed_is_told(cluster, place):
    training_jobs.remove_kinds(cluster)  # other tests have brought them
    (place.folder / "mpi.yaml").write_text("""
apiVersion: kubeflow.org/v1
kind: MPIJob
metadata: {name: mpi}
spec: {mpiReplicaSpecs: {Worker: {replicas: 1, template: {spec: {containers: [{name: w, image: "busybox:1"}]}}}}}
""")
    told = place.assay("cluster", "trial", "-f", "mpi.yaml", "--gpus", "1", *measured())
    assert told.returncode == 2 and "no MPIJob of kubeflow.org: is its operator installed?" in told.stderr


def test_what_an_app_reports_to_its_agent_is_its_throughput(cluster, agent, place):
    node_agent.add_load_image(cluster)
    (place.folder / "frames.yaml").write_text("""
apiVersion: v1
kind: Pod
metadata: {name: frames}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: load:1
    command: [frames_load, "1", "20", "600"]
    volumeMounts: [{name: hooks, mountPath: /metrics}]
  volumes: [{name: hooks, hostPath: {path: HOOKS}}]
""".replace("HOOKS", agent))
    found = place.json("cluster", "trial", "-f", "frames.yaml", "--resource", "cpu", "--gpus", "0.5", "--metric", "fps", "--for",
                       "20s", "--warm-up", "2s", "--price", "0.04", "--work", "1e5", "--deadline", "8h", "--json", timeout=120)
    assert 5 < found["answer"]["throughput"] < 32, found  # a frame takes 20 ms of a CPU: 25, and less on a busy machine
    assert found["trials"][0]["source"] == "fps as its agent has it" and found["trials"][0]["unit_cost"] > 0, found
    late = place.assay("cluster", "recommend", "frames", "--work", "1e9", "--deadline", "8h")
    assert late.returncode == 99 and "None of these choices does it within 8 h" in late.stdout, late


@pytest.mark.parametrize("job, pods", [
    (training_jobs.mpi_job("mpi", 1, version="v1"), ["launcher", "worker-0", "worker-1"]),
    (training_jobs.mpi_job("mpi", 1), ["launcher", "worker-0", "worker-1"]),
    (training_jobs.pytorch_job("torch", 1), ["master-0", "worker-0"])], ids=["MPIJob-v1", "MPIJob", "PyTorchJob"])
def test_training_jobs_are_tried_with_all_their_pods(cluster, place, job, pods):
    training_jobs.define_kinds(cluster)
    template = training_jobs.pod_template(("sh", "-c", STEPS), resources={"limits": {"cpu": "100m"}})
    for role in next(value for key, value in job["spec"].items() if key.endswith("ReplicaSpecs")).values():
        role["template"] = template
    (place.folder / "job.json").write_text(json.dumps(job))
    kind = job["kind"].lower() + "s"
    running = place.start("cluster", "trial", "-f", "job.json", "--gpus", "0.2", *measured("4s"), "--json")
    wait_until(lambda: left(cluster, kind), 180, "the copy is there", every=0.2)
    copy = cluster.json(left(cluster, kind)[0])
    training_jobs.Operator(cluster, copy).start_pods()
    out, said = running.communicate(timeout=300)
    assert running.returncode == 0, said
    trial, = json.loads(out)["trials"]
    name = copy["metadata"]["name"]
    assert trial["object"] == name and sorted(trial["pods"]) == [f"{name}-{pod}" for pod in pods], trial
    assert trial["end"] == "measured" and trial["throughput"] > 0
    gone(cluster, kind)
    runs = place.json("history", "show", trial["session"], "--json")["runs"]
    assert sorted(run["target"]["name"] for run in runs) == [f"0.2 CPUs, {pod}" for pod in pods], runs
    assert all(run["footprint"]["cpu_cores"]["mean"] > 0 for run in runs), runs


def test_two_at_once_run_side_by_side(cluster, place):
    found = place.json("cluster", "trial", "-f", "job.yaml", "--gpus", "0.1,0.2", "--all", "--at-once", "2", "--share-nodes",
                       *measured("40s"), "--json", timeout=300)
    sessions = [place.json("history", "show", one["session"], "--json") for one in found["trials"]]
    assert len(sessions) == 2 and all(one["end"] == "measured" for one in found["trials"]), found
    runs = [session["runs"][0] for session in sessions]
    assert max(run["started_unix_ns"] for run in runs) < min(run["ended_unix_ns"] for run in runs), runs
    gone(cluster)


def test_an_interrupted_call_leaves_nothing_and_a_killed_one_is_cleaned_up(cluster, place):
    words = ["cluster", "trial", "-f", "job.yaml", "--gpus", "0.1,0.2", "--all", "--at-once", "2", "--share-nodes",
             *measured("120s")]
    running = place.start(*words)
    wait_until(lambda: len(left(cluster, "pods")) == 2, 180, "both run", every=0.2)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=300)
    assert running.returncode == 130
    gone(cluster)
    running = place.start(*words)
    wait_until(lambda: left(cluster, "pods"), 180, "it runs", every=0.2)
    second = place.assay(*words)
    assert second.returncode == 4 and "trials of steps run already, as steps-trial-" in second.stderr, second
    assert running.poll() is None and left(cluster, "pods")
    running.kill()
    running.communicate()
    job = json.loads(cluster.kubectl("get", "jobs", "-l", "assay.trial", "-o", "json"))["items"][0]
    assert job["spec"]["activeDeadlineSeconds"] == 362
    cleaned = place.assay("cluster", "trial", "--clean", "-n", "default")
    assert cleaned.returncode == 0 and "was left over and is being removed" in cleaned.stderr
    gone(cluster)
