# SPDX-License-Identifier: Apache-2.0
"""An image that is not on this machine is pulled, with its progress told; what goes wrong has its own sentence."""
import json
import os
import pty
import signal
import subprocess
import threading

import images
import pytest
from conftest import ASSAY, wait_until
from containers import spec, use
from registry import Registry, serving


@pytest.fixture
def boxed(place, dockerd):
    yield use(place, dockerd)
    assert dockerd.containers() == []


class OnTerminal:
    """`assay` with a terminal for its messages."""

    def __init__(self, place, *arguments):
        ours, theirs = pty.openpty()
        self.process = subprocess.Popen([ASSAY, *map(str, arguments)], cwd=place.folder, env=place.env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        self.shown, self._ours = b"", ours
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        try:
            while piece := os.read(self._ours, 4096):
                self.shown += piece
        except OSError:  # the other end is closed
            pass

    def end(self):
        self.process.communicate(timeout=60)
        self._reader.join(10)
        return self.process.returncode, self.shown.decode()


def has_image(engine, image):
    return engine.call("GET", f"/images/{image}/json")[0] == 200


def test_an_absent_image_is_pulled_with_its_progress_and_runs(boxed, dockerd):
    registry = Registry(images.busybox_root() + os.urandom(4 << 20))
    with serving(registry) as image:
        running = OnTerminal(boxed, "run", spec(boxed, image, ["true"]))
        assert registry.half_sent.wait(30)
        wait_until(lambda: f"pulling {image}".encode() in running.shown and b"%" in running.shown, 30, "progress")
        registry.go.set()
        code, shown = running.end()
    assert code == 0, shown
    assert [run["status"] for run in boxed.last()["runs"]] == ["finished"]
    assert dockerd.call("DELETE", f"/images/{image}")[0] == 200


def test_ctrl_c_during_a_pull_leaves_nothing(boxed, dockerd):
    registry = Registry(images.busybox_root() + os.urandom(4 << 20))
    with serving(registry) as image:
        process = boxed.start("run", spec(boxed, image, ["true"]))
        assert registry.half_sent.wait(30)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 130 and f"stopped while pulling {image}" in err, err
        assert not has_image(dockerd, image)
    assert boxed.json("history", "list", "--json") == []


def test_a_registry_that_dies_in_the_middle_is_told(boxed, dockerd):
    with serving(Registry(images.busybox_root(), breaks=True)) as image:
        done = boxed.assay("run", spec(boxed, image, ["true"]), timeout=180)
        assert not has_image(dockerd, image)
    assert done.returncode == 4, done.stdout + done.stderr
    assert f"image {image} is not on this machine and cannot be pulled: " in done.stderr
    assert json.loads(boxed.assay("history", "list", "--json").stdout) == []
