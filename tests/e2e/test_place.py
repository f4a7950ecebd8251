# SPDX-License-Identifier: Apache-2.0
"""Placing with a real Docker: the model is started on the best node, measured there, and learned from."""
import contextlib
import csv
import http.client
import json
import signal
import socket
import threading
import time

import pytest
from conftest import Place, wait_until
from test_placement import Service, write_runs

LABEL = "assay.placement"


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A folder with what was learned from three boards, and a small model."""
    place = Place(tmp_path_factory.mktemp("learned"))
    write_runs(place.folder / "runs.csv")
    for words in (["train", "runs.csv", "-o", "placement.json"],
                  ["model", "make", "squeezenet", "--width", "0.25", "--resolution", "64", "-o", "small.onnx"]):
        done = place.assay(*words, timeout=120)
        assert done.returncode == 0, done.stderr
    return place


def workers(dockerd, **filters):
    """Containers that were placed, running or not; `status="running"`: only those."""
    wanted = {"label": [LABEL], **{name: [value] for name, value in filters.items()}}
    found = dockerd.get("/containers/json", all="true", filters=json.dumps(wanted))
    return [one["Id"] for one in found]


@pytest.fixture
def placing(learned, dockerd):
    """The words that place the model on pi-1, whose Docker is ours; nothing of ours may be left."""
    yield ["place", "small.onnx", "--docker", f"pi-1={dockerd.host}"]
    left = workers(dockerd)
    for container in left:
        dockerd.remove(container)
    (learned.folder / "placed.csv").unlink(missing_ok=True)
    assert left == []


@pytest.fixture
def stranger(dockerd):
    """A container of somebody else."""
    container = dockerd.run(dockerd.shell("stranger", "exec sleep 600"))
    yield container
    assert dockerd.state(container)["Running"], "it was not touched"
    dockerd.remove(container)


def test_a_model_is_started_measured_and_learned_from(learned, dockerd, placing, stranger):
    volumes = dockerd.get("/volumes")["Volumes"] or []
    found = learned.json(*placing, "--deploy", "--image", dockerd.worker(), "--json", timeout=120)
    deployed = found["deployed"]
    assert found["node"] == deployed["node"] == "pi-1"
    assert deployed["engine"] == "opencv" and deployed["inferences"] >= 5
    assert deployed["measured_seconds"] > 0
    assert deployed["ratio"] == pytest.approx(deployed["measured_seconds"] / found["devices"][0]["seconds"])
    container = dockerd.inspect(deployed["worker"])
    assert container["State"]["Running"] and container["Config"]["Labels"][LABEL] == "small"
    assert container["HostConfig"]["ReadonlyRootfs"] and container["HostConfig"]["RestartPolicy"]["Name"] == "no"
    assert container["NetworkSettings"]["Ports"]["7010/tcp"][0]["HostIp"] == "127.0.0.1"
    with (learned.folder / "placed.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == 1 and rows[0]["device"] == "pi-1" and rows[0]["status"] == "ok"
    assert float(rows[0]["execution_seconds"]) == pytest.approx(deployed["measured_seconds"], abs=1e-9)
    assert float(rows[0]["predicted_seconds"]) == pytest.approx(deployed["predicted_seconds"], abs=1e-9)
    updated = learned.assay("train", "placed.csv", "--update", "placement.json", "-o", "newer.json", timeout=120)
    assert updated.returncode == 0, updated.stderr
    assert "1 run, 1 model and 0 devices more than before" in updated.stdout
    listed = learned.assay("place", "--list", "--json", DOCKER_HOST=dockerd.host)
    assert listed.returncode == 0, listed.stderr
    (worker,) = json.loads(listed.stdout)["deployments"]
    assert (worker["worker"], worker["model"], worker["node"], worker["state"]) == (
        deployed["worker"], "small", "pi-1", "running")
    assert worker["since"].startswith("20")
    assert container["HostConfig"]["Memory"] > found["devices"][0]["memory_needed_bytes"]
    ended = learned.assay("place", "--end", deployed["worker"], DOCKER_HOST=dockerd.host)
    assert ended.returncode == 0, ended.stderr
    assert workers(dockerd) == []
    assert (dockerd.get("/volumes")["Volumes"] or []) == volumes, "its folder is gone with it"


def test_the_service_starts_models_for_callers_where_its_operator_lets_it(learned, dockerd, placing, stranger):
    service = Service(learned, "--deploy-image", dockerd.worker(), "--docker", f"pi-1={dockerd.host}")
    try:
        sent = service.ask("POST", "/api/v1/models?name=mine.onnx", (learned.folder / "small.onnx").read_bytes())[1]
        status, answer = service.ask("POST", "/api/v1/placements", {"models": [{"id": sent["id"]}], "deploy": True})
        assert status == 200, answer
        deployed = answer["placements"][0]["deployed"]
        assert deployed["measured_seconds"] > 0 and deployed["worker"].startswith("assay-mine-"), deployed
        assert "\nmine," in (learned.folder / "placed.csv").read_text()
        assert dockerd.state(deployed["worker"])["Running"]
        status, listed = service.ask("GET", "/api/v1/deployments")
        assert status == 200 and deployed["worker"] in [one["worker"] for one in listed["deployments"]], listed
    finally:
        service.end()
    assert learned.assay("place", "--end", deployed["worker"], DOCKER_HOST=dockerd.host).returncode == 0


def test_the_service_ends_while_it_waits_for_an_image(learned, dockerd, placing):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        image = f"127.0.0.1:{silent.getsockname()[1]}/none:1"
        service = Service(learned, "--deploy-image", image, "--docker", f"pi-1={dockerd.host}")
        sent = service.ask("POST", "/api/v1/models?name=mine.onnx", (learned.folder / "small.onnx").read_bytes())[1]

        def call():
            with contextlib.suppress(OSError, http.client.HTTPException):
                service.ask("POST", "/api/v1/placements", {"models": [{"id": sent["id"]}], "deploy": True})

        caller = threading.Thread(target=call)
        caller.start()
        silent.settimeout(30)
        connection = silent.accept()[0]  # the daemon asks for the image, and is not answered
        begin = time.monotonic()
        service.end()
        assert time.monotonic() - begin < 15
        connection.close()
    caller.join(30)


def test_a_worker_that_ends_is_removed_and_its_last_words_are_told(learned, dockerd, placing, stranger):
    image = dockerd.shell("broken", "exec >&2; echo loading; echo no such operator; exit 4")
    done = learned.assay(*placing, "--deploy", "--image", image)
    assert done.returncode == 3, done.stderr
    assert "it ended with 4: loading no such operator; it was ended again" in done.stderr
    assert not (learned.folder / "placed.csv").exists()


def test_a_worker_that_never_serves_is_given_up(learned, dockerd, placing, stranger):
    image = dockerd.shell("silent", "exec sleep 600")
    done = learned.assay(*placing, "--deploy", "--image", image, "--wait", "1s")
    assert done.returncode == 4 and "it does not serve after 1 s; it was ended again" in done.stderr


def test_ctrl_c_ends_what_was_started_and_nothing_else(learned, dockerd, placing, stranger):
    process = learned.start(*placing, "--deploy", "--image", dockerd.shell("silent", "exec sleep 600"))
    # Docker lists a container as running before it has answered the call that starts it.
    assert any("waiting until it serves" in line for line in process.stderr)
    assert workers(dockerd, status="running")
    process.send_signal(signal.SIGINT)
    err = process.stderr.read()
    assert process.wait(timeout=60) == 130 and "it was ended again" in err, err


def test_only_workers_are_ended(learned, dockerd, placing, stranger):
    name = dockerd.inspect(stranger)["Name"].lstrip("/")
    done = learned.assay("place", "--end", name, DOCKER_HOST=dockerd.host)
    assert done.returncode == 2 and f"no container that assay placed is called {name}" in done.stderr


def test_an_image_that_is_nowhere_is_told(learned, dockerd, placing):
    done = learned.assay(*placing, "--deploy", "--image", "localhost:1/none:1")
    assert done.returncode == 4 and "cannot be pulled" in done.stderr, done.stderr


def test_another_machine_needs_an_address(learned):
    if socket.gethostname() == "pi-1":
        pytest.skip("this machine is called as the test's board")
    done = learned.assay("place", "small.onnx", "--deploy", "--image", "x")
    assert done.returncode == 2 and "--docker pi-1=tcp://ADDRESS:2376" in done.stderr
