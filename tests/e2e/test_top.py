# SPDX-License-Identifier: Apache-2.0
"""`assay top` in a real terminal (a pty, with pyte as its screen) beside a real agent."""
import errno
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import termios

import pyte
import pytest
from conftest import ASSAY, BIN, PYTHON, wait_until

COLUMNS, ROWS = 100, 30
MARK = f"{os.getpid():08x}"


class Agent:
    def __init__(self, folder, env):
        self.socket = folder / "agent.sock"
        self.hooks = folder / "hooks.sock"
        self.env = env
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [BIN / "assay-agent", "--listen", "", "--socket", self.socket, "--hooks", self.hooks, "--docker", ""],
            env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        told = self.process.stderr.readline() + self.process.stderr.readline()
        assert "listening" in told, told

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stderr.close()


class Terminal:
    """A program in a pty, as the leader of its session; its screen is a picture of text."""

    def __init__(self, command, env, columns=COLUMNS, rows=ROWS):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.seen = b""
        ready, go = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.read(ready, 1)
                os.execve(command[0], command, env)
            finally:
                os._exit(127)
        self.resize(columns, rows)
        self.before = self.modes()
        self.code = None
        os.write(go, b"x")
        os.close(ready)
        os.close(go)

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.fd], [], [], 0)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            self.seen += data
            self.stream.feed(data)
        return "\n".join(self.screen.display)

    def type(self, keys):
        os.write(self.fd, keys)

    def wait_for(self, condition, what, seconds=20):
        return wait_until(lambda: condition(self.read()), seconds, lambda: f"{what}; there is\n{self.read()}")

    def modes(self):
        return termios.tcgetattr(self.fd)[:4]

    def wait_end(self):
        def ended():
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
            return pid
        wait_until(ended, 20, "the program's end")
        self.read()
        return self.code

    def close(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def agent(place):
    agent = Agent(place.folder, place.env)
    yield agent
    if agent.process.poll() is None:
        agent.stop()


def groups_root():
    """Where the control groups are that the agent watches."""
    places = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/cpu,cpuacct"]
    return next((place for place in places if os.path.exists(f"{place}/cgroup.procs")), None)


@pytest.fixture
def containers():
    """Two control groups named as containers are, with a process in each; their names share a beginning, so
    that a filter finds them among whatever else runs here."""
    folder = pathlib.Path(groups_root() or "/none", f"top-test-{os.getpid()}")
    ids = [MARK + letter * 56 for letter in "ab"]
    try:
        for one in ids:
            (folder / one).mkdir(parents=True)
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    sleepers = [subprocess.Popen(["sleep", "600"]) for _ in ids]
    for one, sleeper in zip(ids, sleepers):
        (folder / one / "cgroup.procs").write_text(str(sleeper.pid))
    yield [one[:12] for one in ids]
    for sleeper in sleepers:
        sleeper.kill()
        sleeper.wait()
    for path in [folder / ids[0], folder / ids[1], folder]:
        wait_until(lambda path=path: gone(path), 10, f"{path} removed")


def gone(path):
    """The kernel counts a process as there for a moment after its end."""
    try:
        path.rmdir()
    except OSError as error:
        return error.errno != errno.EBUSY
    return True


@pytest.fixture
def top(place, agent, containers):
    env = {**place.env, "TERM": "xterm-256color"}
    terminal = Terminal([ASSAY, "top", "--url", str(agent.socket), "--sort", "name", "--filter", MARK], env)
    terminal.names = containers
    yield terminal
    terminal.close()


def rows(text):
    lines = text.split("\n")
    head = next((i for i, line in enumerate(lines) if line.startswith("NAME")), None)
    return [line for line in lines[head + 1:-1] if line.strip()] if head is not None else []


def test_keys_sort_filter_and_open_an_app_and_the_terminal_comes_back(top):
    first, second = top.names
    top.wait_for(lambda text: first in text and second in text and top.screen.display[-1].startswith("F1Help F3Search"), "both groups")
    assert "by name ▼" in top.screen.display[0]
    assert top.modes() != top.before

    top.type(b"I")
    def inverted(text):
        order = [row.split()[0] for row in rows(text)]
        return "by name ▲" in text and {first, second} <= set(order) and order.index(second) < order.index(first)

    top.wait_for(inverted, "the order inverted")
    top.type(b"M")
    top.wait_for(lambda text: "by memory ▼" in text, "sorted by memory")

    top.type(b"\033OSa")
    top.wait_for(lambda text: len(rows(text)) == 1 and f"Filter: {MARK}a" in top.screen.display[-1], "one row")
    top.type(b"\r\r")
    top.wait_for(lambda text: f"{first}  container, running for" in text and "network receive" in text,
                 "the app's page")
    assert first in top.read() and second not in top.read()
    top.type(b"\033")
    top.wait_for(lambda text: len(rows(text)) == 1, "the table again")
    top.type(b"\033")
    top.wait_for(lambda text: "Esc clears it" not in text and len(rows(text)) >= 2, "the filter cleared")

    top.type(b"q")
    assert top.wait_end() == 0
    assert top.modes() == top.before
    assert top.seen.endswith(b"\033[?7h\033[?25h\033[?1049l")


def test_it_follows_the_size_of_the_terminal(top):
    top.wait_for(lambda text: top.names[0] in text, "a row")
    top.resize(40, 10)
    top.wait_for(lambda text: top.screen.display[-1].strip() == "F1Help F3Search F4Filter F6Sort qQuit",
                 "the smaller screen")
    assert top.screen.display[4].split() == ["NAME", "CORES", "MEMORY", "AGE"]
    os.kill(top.pid, signal.SIGINT)
    assert top.wait_end() == 130


def test_it_ends_with_its_terminal(top):
    top.wait_for(lambda text: top.names[0] in text, "a row")
    os.close(top.fd)
    try:
        pid, status = wait_until(lambda: (found := os.waitpid(top.pid, os.WNOHANG))[0] and found, 20, "its end")
        top.code = os.waitstatus_to_exitcode(status)
        assert (pid, top.code) == (top.pid, 130)
    finally:
        top.fd = os.open(os.devnull, os.O_RDONLY)


@pytest.mark.parametrize("fatal", [signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT])
def test_a_crash_leaves_the_terminal_as_it_was(top, fatal):
    top.wait_for(lambda text: top.names[0] in text, "a row")
    os.kill(top.pid, fatal)
    assert top.wait_end() == -fatal
    assert top.modes() == top.before
    assert top.seen.endswith(b"\033[?1049l")


def test_it_stops_for_the_shell_and_comes_back(place, agent, containers):
    """Ctrl-Z, then fg, by a real shell that controls its jobs."""
    env = {**place.env, "TERM": "xterm-256color", "PS1": "ready> "}
    shell = Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], env)
    try:
        shell.wait_for(lambda text: "ready>" in text, "the prompt")
        shell.type(f"{ASSAY} top --url {agent.socket} --filter {MARK}\r".encode())
        shell.wait_for(lambda text: containers[0] in text and "F1Help" in text, "the table")
        shell.type(b"\x1a")
        shell.wait_for(lambda text: shell.seen.count(b"\033[?1049l") == 1 and "Stopped" in text, "stopped")
        shell.type(b"fg\r")
        shell.wait_for(lambda text: b"F1" in shell.seen.partition(b"fg")[2].partition(b"\033[?1049h")[2],
                       "all of the table again")
        shell.type(b"q")
        shell.wait_for(lambda text: shell.seen.count(b"\033[?1049l") == 2, "the shell's screen")
        shell.type(b"echo code $?\r")
        shell.wait_for(lambda text: "code 0" in text, "its exit code")
    finally:
        shell.close()


def test_a_connection_that_breaks_is_shown_and_comes_back(top, agent):
    top.wait_for(lambda text: top.names[0] in text, "a row")
    agent.stop()
    top.wait_for(lambda text: f"no answer from {agent.socket} for" in text and top.names[0] in text,
                 "the trouble over the old table")
    agent.start()
    top.wait_for(lambda text: "no answer" not in text and top.names[0] in text, "the table again")


REPORTING = """
import os, sys
with open(sys.argv[1], "w") as group:
    group.write(str(os.getpid()))
from assay import LiveMetrics
metrics = LiveMetrics()
metrics.push("fps", 12.5)
sys.stdin.read()
"""


def test_what_an_app_reports_has_a_column(top, agent, place):
    top.wait_for(lambda text: top.names[0] in text, "a row")
    assert "fps" not in top.read()
    group = f"{groups_root()}/top-test-{os.getpid()}/{MARK + 'b' * 56}/cgroup.procs"
    with subprocess.Popen([PYTHON, "-c", REPORTING, group], stdin=subprocess.PIPE,
                          env={**place.env, "ASSAY_SOCKET": str(agent.hooks)}) as app:
        top.wait_for(lambda text: [row.split()[-2] for row in rows(text)] == ["-", "12.5"], "its frames")
        assert app.poll() is None


def test_once_and_json_are_for_scripts(place, agent, containers):
    table = place.assay("top", "--once", "--url", agent.socket, "--sort", "name", "--filter", containers[0])
    assert table.returncode == 0, table.stderr
    head, row = table.stdout.splitlines()
    assert head.split()[:4] == ["NAME", "KIND", "CORES", "MEMORY"]
    assert row.split()[:2] == [containers[0], "container"]
    assert "\033" not in table.stdout
    document = json.loads(place.assay("top", "--json", ASSAY_URL=str(agent.socket)).stdout)
    assert document["schema"] == 1
    assert {"name", "cores", "memory_bytes"} <= document["node"].keys()


def test_no_agent_is_told_in_a_sentence_that_helps(place):
    done = place.assay("top", "--url", place.folder / "none.sock")
    assert done.returncode == 4
    assert done.stderr == (f"assay: no agent answers at {place.folder}/none.sock: "
                           "start `assay-agent` there, or name another with --url\n")
