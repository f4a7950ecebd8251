# SPDX-License-Identifier: Apache-2.0
"""One session at a time on a device: who waits, who goes on, and what frees it."""
import os
import pathlib
import signal
import threading

from conftest import wait_until

# Runs until somebody writes into the pipe `go-NAME`.
HOLD = "touch started-{0}; read x < go-{0}; touch ended-{0}"


class Holder:
    """A session that measures until it is let go."""

    def __init__(self, place, name, *options):
        self.place, self.name = place, name
        os.mkfifo(place.folder / f"go-{name}")
        self.process = place.start("run", "--quiet", *options, "--", "sh", "-c", HOLD.format(name))

    def has(self, what):
        return (self.place.folder / f"{what}-{self.name}").exists()

    def await_start(self):
        wait_until(lambda: self.has("started"), 20, f"{self.name} has started")

    def let_go(self):
        (self.place.folder / f"go-{self.name}").write_text("\n")
        _, err = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, err


def first_error_line(process):
    """What it says first, while it runs on."""
    lines = []
    reader = threading.Thread(target=lambda: lines.append(process.stderr.readline()), daemon=True)
    reader.start()
    reader.join(20)
    assert lines, "it said nothing"
    return lines[0]


def test_a_session_that_waits_starts_when_the_other_has_ended(place):
    first = Holder(place, "first")
    first.await_start()
    second = place.start("run", "--wait", "--", "sh", "-c", "test -e ended-first && touch second-ran-after")
    assert f"in use by sh (pid {first.process.pid}, " in first_error_line(second)
    first.let_go()
    _, err = second.communicate(timeout=20)
    assert second.returncode == 0, err
    assert (place.folder / "second-ran-after").exists()


def test_a_killed_session_frees_the_device_at_once_even_while_its_app_lives(place):
    first = Holder(place, "first")
    first.await_start()
    first.process.kill()
    first.process.wait()
    done = place.assay("run", "--quiet", "--", "true")
    assert done.returncode == 0, done.stderr


def test_ctrl_c_ends_the_wait_and_starts_nothing(place):
    first = Holder(place, "first")
    first.await_start()
    second = place.start("run", "--wait", "--", "touch", "second-ran")
    first_error_line(second)
    second.send_signal(signal.SIGINT)
    _, err = second.communicate(timeout=20)
    assert second.returncode == 130 and "interrupted while waiting for sh" in err
    first.let_go()
    assert not (place.folder / "second-ran").exists()
    assert len(place.json("history", "list", "--json")) == 1


def test_attaching_measures_and_so_waits_its_turn(place):
    first = Holder(place, "first")
    first.await_start()
    done = place.assay("run", "--pid", os.getpid(), "--for", "100ms")
    assert done.returncode == 4 and "this device is in use by sh" in done.stderr
    first.let_go()


def open_files(pid):
    try:
        return [os.path.realpath(fd) for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
    except FileNotFoundError:  # it has ended meanwhile
        return []


def test_neither_keeper_nor_app_holds_the_lock(place):
    first = Holder(place, "first")
    first.await_start()
    holders = []
    for pid in place.leftovers():
        if str(place.folder / "lock") in open_files(pid):
            holders.append(pid)
    assert holders == [first.process.pid]
    first.let_go()
