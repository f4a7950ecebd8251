# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the real `assay`, a history of its own per test, and waiting
without sleeping blindly."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("ASSAY_BIN", HERE.parents[1] / "build/release/bin")).resolve()
ASSAY = str(BIN / "assay")
KNOWN_LOAD = str(BIN / "known_load")
PYTHON = sys.executable
CLIENT = HERE.parents[1] / "clients/python"
sys.path[:0] = [str(HERE.parent / "engines"), str(HERE / "kubernetes")]

from clusters import cluster, room  # noqa: E402,F401 (fixtures)
from engines import dockerd, podman  # noqa: E402,F401


def wait_until(condition, seconds, what, every=0.01):
    """Polls until the condition holds and returns what it gave; fails the test after `seconds`.

    `what` is a text, or a function that makes it at the end."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"after {seconds} s still not: {what() if callable(what) else what}"
        time.sleep(every)
    return result


def processes_with(mark):
    """Live processes whose environment holds the mark: pid -> command line."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it ended, or it is not ours to read
            pass
    return found


class Place:
    """A folder with its own history; everything started from it carries the folder in its environment."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.mark = f"ASSAY_STORE={self.folder}/history.db"
        self.within = []  # what `assay` is started by
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "XDG_"))}
        self.env.update(HOME=str(folder), XDG_DATA_HOME=f"{folder}/data",
                        ASSAY_STORE=f"{folder}/history.db", ASSAY_LOCK=f"{folder}/lock", PYTHONPATH=str(CLIENT),
                        LC_ALL="C.UTF-8")

    def start(self, *arguments, user=None, preexec_fn=None, **env):
        return subprocess.Popen([*self.within, ASSAY, *map(str, arguments)], cwd=self.folder, env={**self.env, **env},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, user=user, preexec_fn=preexec_fn)

    def assay(self, *arguments, timeout=60, **env):
        """Runs to the end; gives returncode, stdout, stderr."""
        process = self.start(*arguments, **env)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            pytest.fail(f"assay {' '.join(map(str, arguments))}: still running after {timeout} s")
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def json(self, *arguments, expect=0, **env):
        done = self.assay(*arguments, **env)
        assert done.returncode == expect, done.stderr
        return json.loads(done.stdout)

    def run(self, *arguments, expect=0, **env):
        """The only run of `assay run --json ARGUMENTS`."""
        document = self.json("run", "--json", *arguments, expect=expect, **env)
        assert len(document["runs"]) == 1
        return document["runs"][0]

    def last(self):
        """The newest session's document, from the history."""
        return self.json("report", "last", "--format", "json")

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def leftovers(self):
        return processes_with(self.mark)


@pytest.fixture
def place(tmp_path):
    if not pathlib.Path(ASSAY).exists():
        pytest.fail(f"{ASSAY} is not built; run `make build`, or name its folder in ASSAY_BIN")
    place = Place(tmp_path)
    yield place
    for pid in place.leftovers():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
