# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around a container run ends in a clear message or record, never in a hang."""
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import tempfile

import pytest
from conftest import Place, wait_until
from containers import TICKING, is_ticking, spec, use
from test_nothing_lost import fill, small_disk  # noqa: F401 (a fixture)

NOBODY_ELSE = 64322  # whose processes are counted: each file has its own


@pytest.fixture
def boxed(place, dockerd):
    yield use(place, dockerd)
    if not dockerd.answers():
        dockerd.start()
    left = dockerd.containers()
    for container in left:
        dockerd.remove(container)
    assert left == []


def refused(place, *arguments, **more):
    """The message of a run that the environment does not allow; nothing is kept of it."""
    done = place.assay("run", *arguments, **more)
    assert done.returncode == 4, done.stdout + done.stderr
    assert done.stdout == "" and "terminate called" not in done.stderr
    assert json.loads(place.assay("history", "list", "--json", **more).stdout or "[]") == []
    return done.stderr


def test_an_image_that_is_nowhere(boxed):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        image = f"127.0.0.1:{nobody.getsockname()[1]}/nosuch/image:1"
        message = refused(boxed, spec(boxed, image, ["true"]))
    assert f"image {image} is not on this machine and cannot be pulled" in message and "refused" in message


def test_an_image_for_another_processor(boxed, dockerd):
    message = refused(boxed, spec(boxed, dockerd.arm64(), ["true"]))
    assert dockerd.arm64() in message and "arm64" in message and "amd64" in message


def test_no_engine_at_all(place):
    place.env["DOCKER_HOST"] = f"unix://{place.folder}/nothing.sock"
    message = refused(place, spec(place, "test/busybox:1", ["true"]))
    assert f"{place.folder}/nothing.sock" in message and "no such file" not in message.lower()


def test_an_engine_that_has_died(boxed, dockerd):
    image = dockerd.busybox()
    dockerd.kill()
    message = refused(boxed, spec(boxed, image, ["true"]))
    assert str(dockerd.socket) in message and "start" in message


@pytest.fixture
def ordinary(dockerd):
    """A place of a user who is not root."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-denied-"))
    folder.chmod(0o777)
    yield use(Place(folder), dockerd)
    shutil.rmtree(folder)


def test_an_engine_that_we_may_not_talk_to(ordinary, dockerd):
    message = refused(ordinary, spec(ordinary, dockerd.busybox(), ["true"]), user=NOBODY_ELSE)
    assert str(dockerd.socket) in message and "permission" in message.lower()


def test_who_is_not_root_is_told_what_is_not_measured_and_what_cannot_be_removed(ordinary, dockerd):
    """The user may talk to the engine, as one in the group docker."""
    keep = "mkdir $PYWAGGLE_LOG_DIR/uploads; echo x > $PYWAGGLE_LOG_DIR/uploads/x; sleep 1"
    mode = dockerd.socket.stat().st_mode & 0o777
    dockerd.socket.chmod(0o666)
    try:
        document = ordinary.json("run", "--json", spec(ordinary, dockerd.busybox(), ["sh", "-c", keep]), user=NOBODY_ELSE)
    finally:
        dockerd.socket.chmod(mode)
    run = document["runs"][0]
    assert run["status"] == "finished" and run["isolation"].startswith("cgroup")
    assert "app's last moments" in [gap["what"] for gap in run["not_measured"]]
    done = ordinary.assay("history", "rm", "last", user=NOBODY_ELSE)
    assert done.returncode == 4 and f"sudo rm -r {document['folder']}" in done.stderr
    assert dockerd.containers() == []


def finished(process, code):
    """The document of a run that ends by itself, and soon."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "terminate called" not in err
    return json.loads(out)["runs"][0]


def words_about(run):
    """All that the record says about how the run went."""
    return json.dumps([run["exit"], run["not_measured"], run["losses"]])


def test_a_container_that_somebody_else_removes(boxed, dockerd):
    process = boxed.start("run", "--json", spec(boxed, dockerd.busybox(), TICKING))
    dockerd.remove(is_ticking(boxed, dockerd))
    run = finished(process, 3)
    assert (run["status"], run["exit"]["detail"]) == ("failed", "the container was removed by somebody else")
    assert run["footprint"]["cpu_cores"]["mean"] > 0


def test_an_engine_that_restarts_in_the_middle(boxed, dockerd):
    process = boxed.start("run", "--json", spec(boxed, dockerd.busybox(), TICKING))
    is_ticking(boxed, dockerd)
    dockerd.kill()
    dockerd.start()
    run = finished(process, 3)
    assert run["status"] == "failed" and "daemon" in words_about(run)


def test_an_engine_that_dies_and_stays_dead(boxed, dockerd):
    """The run still ends at its timeout; the container is removed as soon as the engine is back."""
    process = boxed.start("run", "--json", "--timeout", "10s", "--grace", "1s", spec(boxed, dockerd.busybox(), TICKING))
    is_ticking(boxed, dockerd)
    dockerd.kill()
    run = finished(process, 4)
    assert run["status"] == "timeout"
    dockerd.start()
    assert boxed.assay("cleanup").returncode == 0
    assert dockerd.containers() == []


@contextlib.contextmanager
def hung(engine):
    """It is there and does not answer."""
    os.kill(engine.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(engine.pid, signal.SIGCONT)


def test_an_engine_that_hangs_in_the_middle(boxed, dockerd):
    """The run still ends at its timeout, by a signal without the engine, and the record says so."""
    process = boxed.start("run", "--json", "--timeout", "10s", "--grace", "1s", spec(boxed, dockerd.busybox(), TICKING))
    is_ticking(boxed, dockerd)
    with hung(dockerd):
        run = finished(process, 4)
    assert run["status"] == "timeout"
    assert "the container daemon did not answer" in words_about(run)
    assert "the end of the app's output may be missing" in words_about(run)
    assert boxed.assay("cleanup").returncode == 0
    assert dockerd.containers() == []


def test_an_engine_that_hangs_before_a_run_is_told(boxed, dockerd):
    path = spec(boxed, dockerd.busybox(), ["true"])
    with hung(dockerd):
        message = refused(boxed, path)
    assert f"the container daemon at {dockerd.socket} does not answer" in message


def test_ctrl_c_ends_the_wait_for_an_engine_that_hangs(boxed, dockerd):
    """It hangs while the session waits for the device, so that the session is the next to talk to it."""
    path = spec(boxed, dockerd.busybox(), ["true"])
    lock = boxed.folder / "lock"
    with open(lock, "w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = boxed.start("run", path, "--wait")
        assert "in use" in process.stderr.readline()
        with hung(dockerd):
            fcntl.flock(held, fcntl.LOCK_UN)
            wait_until(lambda: f"pid {process.pid}," in lock.read_text(), 20, "the session has the device")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "stopped while the container daemon was waited for" in err


def test_a_paused_container_is_told_and_ends_at_its_timeout(boxed, dockerd):
    process = boxed.start("run", "--json", "--timeout", "10s", "--grace", "1s", spec(boxed, dockerd.busybox(), TICKING))
    dockerd.call("POST", f"/containers/{is_ticking(boxed, dockerd)}/pause")
    run = finished(process, 0)
    assert run["status"] == "timeout"
    assert "paused" in words_about(run)


@pytest.mark.parametrize("leave", [0, 64 << 10])
def test_a_full_disk_ends_the_session_with_a_clear_error(boxed, dockerd, small_disk, leave):  # noqa: F811
    writes = "head -c 300000 /dev/zero"
    first = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), ["sh", "-c", writes]))["session"]
    path = spec(boxed, dockerd.busybox(), ["sh", "-c", f"{writes}; exec sleep 3"])
    filler = fill(small_disk, leave)
    done = boxed.assay("run", "--interval", "10ms", "--timeout", "20s", path)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "space" in done.stderr.lower(), done.stderr
    assert dockerd.containers() == []
    filler.unlink()
    assert first in [entry["session"] for entry in boxed.json("history", "list", "--json")]
    assert os.path.exists(path)
    assert boxed.assay("run", "--quiet", spec(boxed, dockerd.busybox(), ["sh", "-c", writes])).returncode == 0
