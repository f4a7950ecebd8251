# SPDX-License-Identifier: Apache-2.0
"""Real container engines for the tests: `dockerd` and `podman`, each started once per test session in a folder of
its own, with its own socket, network and control group, and ended with all that it started."""
import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import random
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

import images
import pytest

KEEPER = pathlib.Path(__file__).with_name("keeper.py")
BIN = pathlib.Path(os.environ.get("ASSAY_BIN", images.REPOSITORY / "build/release/bin")).resolve()
KNOWN_LOAD = BIN / "known_load"
FRAMES_LOAD = BIN / "frames_load"
# How Docker makes control groups: "systemd" where that runs the machine.
CGROUP_DRIVER = os.environ.get("ASSAY_TEST_CGROUP_DRIVER", "cgroupfs")
LEAST_SPACE = 3e9  # two engines, each with the example's image and what its containers write
EXAMPLE_CHANGES = ['ENTRYPOINT ["/usr/bin/python3", "/app/objcounter.py"]', 'CMD ["--use-cpu", "--frames", "300"]',
                   "WORKDIR /app"]


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout, blocksize=1 << 20)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def _decoded(text):
    """One JSON value, or a list of those that come line by line; what is no JSON stays as it is."""
    if text[:1] not in (b"{", b"["):
        return text
    values = [json.loads(line) for line in text.splitlines() if line.strip()]
    return values[0] if len(values) == 1 else values


class Engine:
    """An engine with its API; `host` is what DOCKER_HOST has to be."""

    def __init__(self, name, folder, command):
        self.name, self.folder, self.command, self._images = name, folder, command, set()
        self.socket = folder / "engine.sock"
        self.host = f"unix://{self.socket}"
        self._keeper = subprocess.Popen([sys.executable, KEEPER, folder, *command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.start()

    def _tell(self, word):
        self._keeper.stdin.write(word + "\n")
        self._keeper.stdin.flush()
        return int(self._keeper.stdout.readline())

    def start(self):
        self.pid = self._tell("start")
        self._await()

    def kill(self):
        """SIGKILL to the engine; its containers may live on."""
        self._tell("kill")

    def close(self):
        self._keeper.stdin.close()
        self._keeper.wait(60)

    def _await(self):
        deadline = time.monotonic() + 60
        while not self.answers():
            assert time.monotonic() < deadline, f"{self.name} does not answer:\n{self.log()[-2000:]}"
            time.sleep(0.05)

    def answers(self):
        try:
            return self.call("GET", "/_ping")[0] == 200
        except OSError:
            return False

    def log(self):
        return (self.folder / "engine.log").read_text(errors="replace")

    def call(self, method, path, body=None, timeout=60, **query):
        """Gives the status and the answer, as JSON where it is one."""
        if query:
            path += "?" + urllib.parse.urlencode(query, doseq=True)
        headers = {"Content-Type": "application/x-tar" if path.startswith("/images/") else "application/json"}
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        connection = _UnixConnection(self.socket, timeout)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        return answer.status, _decoded(text)

    def get(self, path, **query):
        status, answer = self.call("GET", path, **query)
        assert status == 200, f"{path}: {status} {answer}"
        return answer

    def _import(self, name, make, *changes):
        """An image of one layer, as `docker import` makes it; once."""
        if name not in self._images:
            layer = make()
            body = layer if isinstance(layer, bytes) else open(layer, "rb")
            status, answer = self.call("POST", "/images/create", body, timeout=300, fromSrc="-", repo=name,
                                       changes=changes)
            assert status == 200 and "error" not in str(answer), f"import of {name}: {status} {answer}"
            self._images.add(name)
        return name

    def busybox(self):
        """An image with busybox, the known load and one that reports its frames."""
        return self._import("test/busybox:1", lambda: images.busybox_root([KNOWN_LOAD, FRAMES_LOAD]))

    def python(self):
        """An image with Python."""
        return self._import("test/python:1", images.python_root, 'CMD ["/usr/bin/python3"]')

    def opencv(self):
        """An image with Python, numpy and OpenCV, and the example in /app."""
        return self._import("test/opencv:1", images.example_root, 'CMD ["/usr/bin/python3"]')

    def example(self):
        """The same, as the example's Dockerfile makes it."""
        name = "test/objcounter:0.1.0"
        if name not in self._images:
            _, made = self.call("POST", "/containers/create", {"Image": self.opencv()})
            status, answer = self.call("POST", "/commit", {}, container=made["Id"], repo="test/objcounter", tag="0.1.0",
                                       changes=EXAMPLE_CHANGES)
            assert status == 201, answer
            self.remove(made["Id"])
            self._images.add(name)
        return name

    def worker(self):
        """An image whose process serves one model, as placement wants it."""
        return self._import("test/worker:1", lambda: images.worker_root(BIN / "assay-infer"),
                            'ENTRYPOINT ["/usr/bin/assay-infer", "--listen"]')

    def shell(self, name, script):
        """An image that runs a script of the shell."""
        return self._import(f"test/{name}:1", images.busybox_root, f'CMD {json.dumps(["/bin/sh", "-c", script])}')

    def arm64(self):
        """An image that says it is for another kind of processor."""
        name = "test/arm64:1"
        status, answer = self.call("POST", "/images/load", images.archive(name, images.busybox_root(), "arm64"))
        assert status == 200, answer
        return name

    def containers(self, **filters):
        """Ids of those that Assay has made, running or not; `status="running"`: only those."""
        wanted = {"label": ["assay.session"], **{name: [value] for name, value in filters.items()}}
        return [found["Id"] for found in self.get("/containers/json", all="true", filters=json.dumps(wanted))]

    def run(self, image, *command, **config):
        """Starts a container as a user would; gives its id."""
        status, made = self.call("POST", "/containers/create", {"Image": image, "Cmd": list(command), **config})
        assert status == 201, made
        status, answer = self.call("POST", f"/containers/{made['Id']}/start")
        assert status == 204, answer
        return made["Id"]

    def remove(self, container):
        return self.call("DELETE", f"/containers/{container}", force="true")[0]

    def inspect(self, container):
        return self.get(f"/containers/{container}/json")

    def state(self, container):
        return self.inspect(container)["State"]

    def wait(self, container):
        """Until it has ended; gives its exit code."""
        return self.call("POST", f"/containers/{container}/wait")[1]["StatusCode"]

    def output(self, container):
        """What it wrote to standard output and to standard error so far."""
        _, framed = self.call("GET", f"/containers/{container}/logs", stdout=1, stderr=1)
        texts = {1: b"", 2: b""}
        while framed:
            kind, size = struct.unpack(">BxxxI", framed[:8])
            texts[kind] += framed[8:8 + size]
            framed = framed[8 + size:]
        return texts[1].decode(), texts[2].decode()


# Networks that were made through the API have bridges too; an engine that is killed tells of them in its files.
CLEAN_UP = """
made=$(grep -aohE 'br-[0-9a-f]{{12}}|cni-podman[0-9]+' {folder}/data/network/files/local-kv.db {folder}/networks/*)
for name in {bridge} $made; do ip link delete $name; done
"""


def _folder():
    if os.geteuid() != 0:
        pytest.skip("a container engine of its own needs root")
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < LEAST_SPACE:
        pytest.fail(f"{tempfile.gettempdir()} has {free / 1e9:.1f} GB left, and a container engine of the tests needs "
                    f"{LEAST_SPACE / 1e9:.0f} GB: make room there, or name another folder in TMPDIR")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-engine-"))
    folder.chmod(0o711)  # others may find the socket, and be refused by it
    return folder


def _command(name):
    """The program of Debian's package, also where another one comes first on the PATH."""
    found = shutil.which(name, path="/usr/sbin:/usr/bin:" + os.environ["PATH"])
    if not found:
        pytest.fail(f"{name} is not installed; run tools/setup.sh test")
    return found


_held_networks = []  # locks, until this process ends


def _free_network(first):
    """The beginning of addresses that nobody uses; held by a lock, since a bridge may be made only later."""
    taken = subprocess.run(["ip", "-4", "route"], check=True, capture_output=True, text=True).stdout
    for n in random.sample(range(256), 256):
        lock = open(f"{tempfile.gettempdir()}/assay-test-network-{first}.{n}.lock", "w", encoding="utf-8")
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if f"{first}.{n}." not in taken:
                _held_networks.append(lock)
                return f"{first}.{n}"
        lock.close()
    return pytest.fail(f"no network of {first} is free")


def _bridge_name(folder):
    """It is removed with the folder."""
    name = f"as-{folder.name[-8:]}"
    (folder / "clean-up.sh").write_text(CLEAN_UP.format(folder=folder, bridge=name))
    return name


def _new_bridge(folder):
    name, network = _bridge_name(folder), _free_network("10.213")
    for words in (["link", "add", name, "type", "bridge"], ["addr", "add", f"{network}.1/24", "dev", name],
                  ["link", "set", name, "up"]):
        subprocess.run(["ip", *words], check=True)
    return name


def start_dockerd(*options):
    """With a bridge of its own and no packet filter, so that it leaves alone what other engines of the machine use."""
    folder = _folder()
    bridge = _new_bridge(folder)
    parent = [] if CGROUP_DRIVER == "systemd" else ["--cgroup-parent", f"/{folder.name}"]
    return Engine("dockerd", folder, [
        _command("dockerd"), "--data-root", folder / "data", "--exec-root", folder / "exec",
        "--pidfile", folder / "engine.pid", "--host", f"unix://{folder}/engine.sock",
        "--exec-opt", f"native.cgroupdriver={CGROUP_DRIVER}", *parent,
        "--bridge", bridge, "--iptables=false", "--ip-masq=false",
        "--max-download-attempts", "1", *options])


# Small limits, since podman's own are refused where root may not raise limits.
PODMAN_CONFIG = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
[network]
network_backend = "cni"
network_config_dir = "{folder}/networks"
"""


def _podman_network(folder):
    """The default network, without a packet filter. Podman makes its bridge with the first container."""
    bridge, network = _bridge_name(folder), _free_network("10.214")
    plugin = {"type": "bridge", "bridge": bridge, "isGateway": True, "ipMasq": False, "ipam": {
        "type": "host-local", "dataDir": f"{folder}/addresses", "routes": [{"dst": "0.0.0.0/0"}],
        "ranges": [[{"subnet": f"{network}.0/24", "gateway": f"{network}.1"}]]}}
    return {"cniVersion": "0.4.0", "name": "podman", "plugins": [plugin]}


def start_podman():
    folder = _folder()
    (folder / "networks").mkdir()
    (folder / "networks/podman.conflist").write_text(json.dumps(_podman_network(folder)))
    config = folder / "containers.conf"
    config.write_text(PODMAN_CONFIG.format(folder=folder))
    # Whenever it is asked for its version, podman has dpkg look up the packages of what it calls, which takes a second.
    (folder / "no-packages/info").mkdir(parents=True)
    (folder / "no-packages/status").touch()
    (folder / "load").mkdir()  # where it leaves a copy of each image that it is given
    podman = ["env", f"CONTAINERS_CONF={config}", f"DPKG_ADMINDIR={folder}/no-packages", f"TMPDIR={folder}/load",
              _command("podman"),
              "--root", f"{folder}/data", "--runroot", f"{folder}/run", "--tmpdir", f"{folder}/tmp"]
    with open(folder / "clean-up.sh", "a", encoding="utf-8") as script:
        script.write(f"{shlex.join(podman)} rm --all --force --time 0\n"
                     "rmdir /sys/fs/cgroup/*/libpod_parent/conmon /sys/fs/cgroup/*/libpod_parent\n")
    return Engine("podman", folder, [*podman, "system", "service", "--time=0", f"unix://{folder}/engine.sock"])


@pytest.fixture(scope="session")
def dockerd():
    engine = start_dockerd()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def podman():
    engine = start_podman()
    yield engine
    engine.close()
