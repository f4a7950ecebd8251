#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps one container engine of the tests.

    keeper.py FOLDER COMMAND...

Obeys lines on standard input: `start` starts the command, `kill` ends it with SIGKILL; each is answered by the
command's pid. When standard input closes, which also happens when the tests are killed, it ends the engine, runs
FOLDER/clean-up.sh, ends every process that is left below it, unmounts what is mounted in the folder, and removes the
folder and the control groups of its name.
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def children():
    """Pids of our own, with those that were left to us."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            if entry.name.isdigit() and (entry / "stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.append(int(entry.name))
    return found


def thaw(pid):
    """A process that v1 has frozen does not even die."""
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers == "freezer":
                pathlib.Path(f"/sys/fs/cgroup/freezer{group}/freezer.state").write_text("THAWED")


def kill_all(seconds):
    """Every process below us: those of a killed parent become our children and are next."""
    deadline = time.monotonic() + seconds
    while (found := children()) and time.monotonic() < deadline:
        for pid in found:
            os.kill(pid, signal.SIGKILL)
            thaw(pid)
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


def mounts_below(folder):
    points = [line.split()[4].encode().decode("unicode_escape")
              for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in reversed(points) if pathlib.Path(point).is_relative_to(folder)]


def unmount(folder):
    """Several can lie upon each other, and one hides those below it."""
    for _ in range(3):
        for point in mounts_below(folder):
            subprocess.run(["umount", "--lazy", point], check=False, stderr=subprocess.DEVNULL)


def remove_groups(name):
    """In every hierarchy of v1 and in the one of v2, the innermost first."""
    root = pathlib.Path("/sys/fs/cgroup")
    for top in (root / name, *(controller / name for controller in root.iterdir())):
        groups = [path for path in top.rglob("*") if path.is_dir()] if top.is_dir() else []
        for group in (*sorted(groups, reverse=True), top):
            with contextlib.suppress(OSError):
                group.rmdir()


class Keeper:
    def __init__(self, folder, command):
        self.folder, self.command = folder, command
        self.engine = None

    def start(self):
        log = open(self.folder / "engine.log", "ab")
        # In its own folder: conmon leaves a file where it was started when a container runs out of memory.
        self.engine = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)

    def kill(self):
        """What dies with the engine (its containerd) is awaited too, or a new one would take it for alive."""
        self.engine.kill()
        self.engine.wait()
        for file in (*self.folder.glob("*.pid"), *self.folder.glob("exec/containerd/*.pid")):
            with contextlib.suppress(OSError, ValueError):
                os.waitpid(int(file.read_text()), 0)
            file.unlink()

    def end(self):
        """Without asking: an orderly end of an engine waits for containers that do not listen."""
        if self.engine and self.engine.poll() is None:
            self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(["sh", self.folder / "clean-up.sh"], check=False, timeout=30, capture_output=True)
        kill_all(10)
        unmount(self.folder)
        remove_groups(self.folder.name)
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: None)  # whoever wants us to end closes our standard input
    keeper = Keeper(pathlib.Path(sys.argv[1]), sys.argv[2:])
    try:
        for line in sys.stdin:
            {"start": keeper.start, "kill": keeper.kill}[line.strip()]()
            print(keeper.engine.pid, flush=True)
    finally:
        keeper.end()


if __name__ == "__main__":
    main()
