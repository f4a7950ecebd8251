# SPDX-License-Identifier: Apache-2.0
"""Placement with real parts: Prometheus that scrapes several nodes, the service, and callers as they are."""
import http.client
import json
import math
import os
import pathlib
import re
import socket
import subprocess
import threading
import time

import pytest
from agents import Agent
from conftest import BIN, Place, wait_until
from ports import free_port
from prometheus import Prometheus

TICKS = 100  # of /proc/stat, a second
CALL = {"model": "resnet", "conv_layers": 40, "pool_layers": 2, "fc_layers": 1, "filter_details": 20000,
        "total_parameters": 5000000, "model_input_size": 602112, "model_output_size": 4000}


BOARDS = (("pi-1", "Board 5", 4e9), ("pi-2", "Board 4", 2.8e9), ("pi-3", "Board 3", 2e9))


def write_runs(file, boards=BOARDS):
    """Measurements of devices, each by its name, board and MACs a second; all slow down by their load."""
    columns = ("model,family,device,device_model,engine,precision,threads,status,device_load_percent,device_cpu_cores,"
               "execution_seconds,outlier,conv_layers,pool_layers,fully_conn_layers,filter_details,total_parameters,"
               "model_input_size,model_output_size,macs_conv1x1,macs_conv3x3,macs_conv_other,macs_depthwise,macs_grouped,"
               "macs_matmul,macs_other,macs_few_channels,bytes_conv,bytes_depthwise,bytes_matmul,bytes_other,weight_bytes,"
               "activation_bytes,peak_activation_bytes,operators,conv_operators,depthwise_operators,matmul_operators")
    lines = [columns]
    for number in range(36):
        macs = 2e7 * 1.12 ** number
        layers = 20 + number
        workload = [0.4 * macs, 0.6 * macs, 0, 0, 0, 0, 0, 0, 0.05 * macs, 0, 0, 0.02 * macs, 0.01 * macs, 0.03 * macs,
                    0.01 * macs, 2 * layers, layers, 0, 0]
        for device, board, speed in boards:
            for load in (0, 0, 20, 40, 60, 80):
                seconds = (macs / speed + 2e-5 * layers) / (1 - load / 100)
                row = [f"net-{number}", f"family{number % 6}", device, board, "opencv", "float32", 4, "ok", load, 4, seconds, 0,
                       layers, 2, 1, 64 * layers, 0.0025 * macs, 602112, 4000, *workload]
                lines.append(",".join(map(str, row)))
    file.write_text("\n".join(lines) + "\n")


def start_exporter(folder, hostname, *collectors):
    """Debian's node exporter, on a machine that calls itself so; gives process and address."""
    address = f"127.0.0.1:{free_port()}"
    with (folder / "exporter.log").open("w") as log:
        process = subprocess.Popen(
            ["unshare", "--uts", "sh", "-c", f"hostname {hostname} && exec prometheus-node-exporter \"$@\"", "sh",
             f"--path.procfs={folder}/proc", f"--web.listen-address={address}",
             f"--collector.textfile.directory={folder}/text", "--collector.disable-defaults", *collectors], stderr=log)
    return process, address


class Identities:
    """Who the nodes are, told by an exporter of its own, as existing characterization agents do."""

    def __init__(self, folder):
        (folder / "proc").mkdir(parents=True)
        (folder / "text").mkdir()
        self.text = folder / "text"
        self.process, self.address = start_exporter(folder, "elsewhere", "--collector.textfile")

    def add(self, name, board):
        new = self.text / "new"
        new.write_text(
            f'char_node_device_model{{char_node_name="{name}",char_node_class="Computer",char_node_uuid="uuid-{name}",'
            f'char_node_device_model_name="{board}"}} 1\n')
        new.rename(self.text / f"{name}.prom")

    def end(self):
        self.process.terminate()
        self.process.wait(10)


class Node:
    """An exporter on a tree of /proc that is as busy as it is told to be."""

    def __init__(self, folder, hostname):
        self.folder = folder
        self.busy, self.idle_ticks, self.user_ticks = 0.0, 1000.0, 1000.0
        (folder / "proc/1").mkdir(parents=True)
        (folder / "text").mkdir()
        (folder / "proc/1/mounts").write_text("/dev/disk / ext4 rw 0 0\n")
        (folder / "proc/meminfo").write_text("MemTotal: 4000000 kB\nMemFree: 3000000 kB\nMemAvailable: 3000000 kB\n")
        self.write_stat()
        self.process, self.address = start_exporter(
            folder, hostname, "--collector.cpu", "--collector.filesystem", "--collector.meminfo", "--collector.uname")
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.keep_ticking)
        self.thread.start()

    def write_stat(self):
        half_idle, half_user = int(self.idle_ticks / 2), int(self.user_ticks / 2)
        cpus = "".join(f"cpu{n} {half_user} 0 0 {half_idle} 0 0 0 0 0 0\n" for n in (0, 1))
        text = f"cpu {2 * half_user} 0 0 {2 * half_idle} 0 0 0 0 0 0\n{cpus}ctxt 1\nbtime 1\nprocesses 1\n"
        new = self.folder / "proc/stat.new"
        new.write_text(text)
        new.rename(self.folder / "proc/stat")

    def keep_ticking(self):
        last = time.monotonic()
        while not self.stop.wait(0.05):
            now = time.monotonic()
            ticks = 2 * TICKS * (now - last)
            self.idle_ticks += ticks * (1 - self.busy)
            self.user_ticks += ticks * self.busy
            last = now
            self.write_stat()

    def end(self):
        self.stop.set()
        self.thread.join()
        self.process.terminate()
        self.process.wait(10)


class Service:
    """`assay serve` with its own addresses."""

    def __init__(self, place, *more):
        self.log = place.folder / "service.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [BIN / "assay", "serve", "--listen", "127.0.0.1:0", "--old-routes", "127.0.0.1:0", *map(str, more)],
                env=place.env, cwd=place.folder,
                stdin=subprocess.DEVNULL, stderr=log)
        wait_until(lambda: "its token is in" in self.log.read_text(), 30, self.log.read_text)
        self.ports = [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", self.log.read_text())]
        self.token = (place.folder / "token").read_text().strip()

    def ask(self, method, path, body=None, old=False, **headers):
        """Status and JSON of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[1 if old else 0], timeout=20)
        if not old:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        document = json.loads(answer.read())
        connection.close()
        return answer.status, document

    def resident(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

    def end(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, self.log.read_text()


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A folder with a history of its own and what was learned from three boards."""
    place = Place(tmp_path_factory.mktemp("learned"))
    write_runs(place.folder / "runs.csv")
    done = place.assay("train", "runs.csv", "-o", "placement.json", timeout=120)
    assert done.returncode == 0, done.stderr
    for name, width in (("small", "0.25"), ("large", "1")):
        made = place.assay("model", "make", "squeezenet", "--width", width, "--resolution", "64", "-o", f"{name}.onnx")
        assert made.returncode == 0, made.stderr
    return place


@pytest.fixture
def nodes(tmp_path):
    """Three boards that each are known in another way, and a real Prometheus that scrapes them."""
    identities = Identities(tmp_path / "identities")
    for name, board in (("pi-1", "Board 5"), ("pi-2", "Board 4"), ("pi-3", "Board 3")):
        identities.add(name, board)
    found = [Node(tmp_path / "a", "pi-1"), Node(tmp_path / "b", "localhost"), Node(tmp_path / "c", "localhost")]
    targets = "\n".join([
        f"      - {{targets: ['{identities.address}']}}",
        f"      - {{targets: ['{found[0].address}']}}",                              # known by node_uname_info
        f"      - {{targets: ['{found[1].address}'], labels: {{instance: pi-2}}}}",    # by its instance
        f"      - {{targets: ['{found[2].address}'], labels: {{instance: third}}}}"])  # by a mapping alone
    prometheus = Prometheus(tmp_path, "scrape_configs:\n  - job_name: nodes\n    scrape_interval: 1s\n"
                                      f"    scrape_timeout: 1s\n    static_configs:\n{targets}\n")
    prometheus.start()
    wait_until(lambda: len(prometheus.series("rate(node_cpu_seconds_total{mode='idle'}[1m])")) == 6
               and len(prometheus.series("char_node_device_model")) == 3, 30, "all are scraped")
    yield found, prometheus
    prometheus.kill()
    for node in (*found, identities):
        node.end()


def predict(place, model, *more, expect=0, **env):
    return place.json("predict", model, "--all", "--learned", "placement.json", "--json", *more,
                      expect=expect, **env)["placements"][0]


def test_the_load_of_this_minute_decides(learned, nodes):
    boards, prometheus = nodes
    at = ("--prometheus", f"http://{prometheus.address}", "--instance", "pi-3=third")
    idle = predict(learned, "large.onnx", *at)
    assert [d["node"] for d in idle["devices"]] == ["pi-1", "pi-2", "pi-3"], idle
    assert idle["devices"][0]["node_uuid"] == "uuid-pi-1" and idle["left_out"] == []
    assert idle["devices"][0]["memory_available_bytes"] == 3000000 * 1024
    disk = os.statvfs("/")
    assert idle["devices"][0]["disk_used"] == pytest.approx(1 - disk.f_bavail / disk.f_blocks, abs=0.05)
    boards[0].busy = 0.8
    busy = wait_until(lambda: (found := predict(learned, "large.onnx", *at))["node"] == "pi-2" and found, 60,
                      lambda: predict(learned, "large.onnx", *at), every=1)
    first = next(d for d in busy["devices"] if d["node"] == "pi-1")
    assert first["load"] > 0.1 and "busy" in first["reason"]


def test_each_node_is_joined_in_its_own_way_and_gone_ones_are_named(learned, nodes):
    boards, prometheus = nodes
    at = ("--prometheus", f"http://{prometheus.address}")
    unmapped = predict(learned, "small.onnx", PROMETHEUS_IP=prometheus.address)
    assert {d["node"] for d in unmapped["devices"]} == {"pi-1", "pi-2"}
    assert [l["node"] for l in unmapped["left_out"]] == ["pi-3"] and "no mapping names one" in str(unmapped["left_out"])
    at = (*at, "--instance", "pi-3=third")
    assert predict(learned, "small.onnx", *at)["left_out"] == []
    boards[1].process.terminate()

    def reason():
        left = {l["node"]: l["reason"] for l in predict(learned, "small.onnx", *at)["left_out"]}
        return left.get("pi-2")
    assert "its load is not" in wait_until(reason, 30, "the one that has gone is left out", every=0.5)
    prometheus.kill()
    done = learned.assay("predict", "small.onnx", "--all", "--learned", "placement.json", *at)
    assert done.returncode == 4 and f"Prometheus at http://{prometheus.address}" in done.stderr


def test_the_service_answers_old_callers_by_the_load_of_this_minute(learned, nodes):
    boards, prometheus = nodes
    service = Service(learned, "--prometheus", f"http://{prometheus.address}")
    try:
        status, answer = service.ask("POST", "/api/profiling", CALL, old=True)
        assert status == 200 and answer["profiling_prediction"]["node"] == "pi-1", answer
        assert answer["profiling_prediction"]["class"] == "Computer"
        assert answer["profiling_prediction"]["device_model"] == "Board 5"
        assert answer["profiling_prediction"]["node_uuid"] == "uuid-pi-1"
        assert answer["model_characteristics"] == CALL
        boards[0].busy = 0.9

        def moved():
            return service.ask("POST", "/api/profiling", CALL, old=True)[1]["profiling_prediction"]["node"] == "pi-2"
        wait_until(moved, 60, "another node is picked", every=0.5)
        prometheus.kill()

        def refused():
            status, answer = service.ask("POST", "/api/profiling", CALL, old=True)
            return status != 200 and (status, answer)
        status, answer = wait_until(refused, 60, "nobody knows the loads any more", every=0.5)
        assert status == 503 and f"Prometheus at http://{prometheus.address}" in str(answer), answer
        assert service.ask("POST", "/api/v1/placements", {"models": [CALL]})[0] == 503
        prometheus.start()
        wait_until(lambda: service.ask("POST", "/api/profiling", CALL, old=True)[0] == 200, 90, "it is back", every=0.5)
    finally:
        service.end()


def test_the_agent_is_a_node_too(learned, tmp_path):
    folder = pathlib.Path(tmp_path)
    agent = Agent(folder)
    prometheus = Prometheus(folder, "scrape_configs:\n  - job_name: nodes\n    scrape_interval: 1s\n    scrape_timeout: 1s\n"
                                    f"    static_configs: [{{targets: ['{agent.address}']}}]\n")
    prometheus.start()
    try:
        wait_until(lambda: prometheus.series("rate(node_cpu_seconds_total{mode='idle'}[1m])"), 30, "it is scraped")
        found = predict(learned, "small.onnx", "--prometheus", f"http://{prometheus.address}", expect=4)
        assert found["devices"] == [] and found["left_out"][0]["node"] == socket.gethostname()
        assert "nothing was learned of devices like it" in found["left_out"][0]["reason"]
    finally:
        prometheus.kill()
        agent.end()


def form(file, **fields):
    """A multipart form as Python's requests sends it."""
    parts = [f'--xyz\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
             for name, value in fields.items()]
    head = b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="m.onnx"\r\n\r\n'
    return b"".join(parts) + head + file + b"\r\n--xyz--\r\n"


def upload(service, body):
    return service.ask("POST", "/upload", body, old=True, Content_Type="multipart/form-data; boundary=xyz")


def test_models_are_uploaded_and_placed_together(learned):
    service = Service(learned)
    try:
        model = (learned.folder / "large.onnx").read_bytes()
        status, answer = upload(service, form(model, model_input_size=49152, model_output_size=4000))
        assert status == 201, answer
        assert answer["model_characteristics"]["conv_layers"] == 26
        assert pathlib.Path(answer["filepath"]).read_bytes() == model
        assert pathlib.Path(answer["filepath"]).parent == learned.folder / "uploads/old-routes"
        assert answer["profiling_prediction"]["node"] == "pi-1"
        ids = [service.ask("POST", f"/api/v1/models?name={n}.onnx", (learned.folder / f"{n}.onnx").read_bytes())[1]["id"]
               for n in ("small", "large")]
        status, answer = service.ask("POST", "/api/v1/placements", {"models": [{"id": i} for i in (*ids, ids[1])]})
        assert status == 200, answer
        assert len({p["node"] for p in answer["placements"]}) > 1, "not all on the fastest"
        assert service.ask("POST", "/api/v1/placements", {}, Authorization="")[0] == 401
    finally:
        service.end()


def test_who_has_no_token_pushes_out_nobody_elses_models(learned):
    model = (learned.folder / "small.onnx").read_bytes()
    size = len(model)
    service = Service(learned, "--uploads-size", 2 * size + 4000, "--old-uploads-size", 2 * size + 4000)
    try:
        sent = service.ask("POST", "/api/v1/models", model)[1]["id"]
        kept = [upload(service, form(model, model_input_size=1, model_output_size=1))[1]["filepath"] for _ in range(3)]
        assert [pathlib.Path(file).exists() for file in kept] == [False, False, True], "the oldest make room"
        assert service.ask("POST", "/api/v1/placements", {"models": [{"id": sent}]})[0] == 200
        # Two that take their time are not all that there is room for.
        callers = [slow_upload(service.ports[1], 2000) for _ in range(2)]
        wait_until(lambda: "on their way" in str(upload(service, b"no form")), 20, "a third is refused", every=0.1)
        assert service.ask("POST", "/api/v1/models", model)[0] == 201
        for caller in callers:
            caller.close()
    finally:
        service.end()


def slow_upload(port, size):
    """A connection that has announced so many bytes and sends none of them."""
    caller = socket.create_connection(("127.0.0.1", port), timeout=20)
    caller.sendall(f"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n"
                   "Content-Type: multipart/form-data; boundary=xyz\r\n\r\n".encode())
    return caller


def test_bad_callers_get_errors_and_cost_little(learned):
    service = Service(learned, "--largest-upload", "8MB")
    try:
        assert upload(service, form(b"no model", model_input_size=1, model_output_size=1))[0] == 400
        assert upload(service, b"--xyz")[0] == 400
        assert service.ask("POST", "/api/profiling", {**CALL, "conv_layers": -1}, old=True)[0] == 400
        assert service.ask("POST", "/api/profiling", {**CALL, "conv_layers": "x"}, old=True)[0] == 400
        assert service.ask("POST", "/api/profiling", b"\xff\xfe", old=True)[0] == 400
        assert service.ask("GET", "/api/v1/placements", old=True)[0] == 404
        # Ten gigabytes are refused by their head: not one byte of them is taken.
        connection = http.client.HTTPConnection("127.0.0.1", service.ports[1], timeout=20)
        connection.putrequest("POST", "/upload")
        connection.putheader("Content-Type", "multipart/form-data; boundary=xyz")
        connection.putheader("Content-Length", str(10 << 30))
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413 and "too large" in json.loads(answer.read())["message"]
        connection.close()
        # Chunks without an announced end are cut off at the same bound.
        assert cut_off_in_chunks(service.ports[1], 128 << 20) < 64 << 20
        huge = {**CALL, "conv_layers": 66666666, "total_parameters": 10 ** 19}
        status, answer = service.ask("POST", "/api/profiling", huge, old=True)
        assert status == 200 and answer["model_characteristics"] == huge
        assert math.isfinite(answer["profiling_prediction"]["predicted_execution_time"])
        assert not list((learned.folder / "uploads").rglob("body-*")), "bodies are gone"
        assert service.resident() < 100 << 20
    finally:
        service.end()


def cut_off_in_chunks(port, size):
    """How many bytes of a chunked upload could be sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as caller:
        caller.sendall(b"POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                       b"Content-Type: multipart/form-data; boundary=xyz\r\n\r\n")
        chunk, sent = b"100000\r\n" + bytes(1 << 20) + b"\r\n", 0
        try:
            while sent < size:
                caller.sendall(chunk)
                sent += 1 << 20
        except OSError:
            pass
    return sent


def test_what_was_learned_anew_is_used_without_a_restart(learned, tmp_path):
    place = Place(tmp_path)
    service = Service(place)
    try:
        status, answer = service.ask("POST", "/api/profiling", CALL, old=True)
        assert status == 503 and "assay train" in answer["message"]
        new = tmp_path / "new.json"
        new.write_bytes((learned.folder / "placement.json").read_bytes())
        os.rename(new, tmp_path / "placement.json")
        wait_until(lambda: service.ask("GET", "/readyz")[0] == 200, 20, "it is read", every=0.2)
        assert service.ask("POST", "/api/profiling", CALL, old=True)[0] == 200
        assert [d["node"] for d in service.ask("GET", "/api/v1/devices")[1]["devices"]] == ["pi-1", "pi-2", "pi-3"]
        calibrated = place.assay("device", "calibrate", "--name", "pi-4", "--quick", timeout=120)
        assert calibrated.returncode == 0, calibrated.stderr
        wait_until(lambda: "pi-4" in str(service.ask("GET", "/api/v1/devices")[1]), 20, "a device is added", every=0.2)
    finally:
        service.end()
