# SPDX-License-Identifier: Apache-2.0
"""The numbers of a container are those that its engine tells, and a link has the rate that was asked for."""
import contextlib
import functools
import http.server
import os
import threading

import pytest
from containers import MB, Watch, boxed, engine, log, spec, use  # noqa: F401 (fixtures)


def test_processes_born_later_are_counted(boxed, engine):
    children = "for i in 1 2 3; do sleep 2 & done; known_load 1 0.5 0; wait"
    run = boxed.run(spec(boxed, engine.busybox(), ["sh", "-c", children]))
    assert run["footprint"]["processes"]["peak"] == 5
    assert run["footprint"]["cpu_cores"]["mean"] * run["duration_seconds"] > 0.5


def test_cpu_and_memory_agree_with_the_engine(boxed, engine):
    """It idles at its end, so that the engine's last answer has all of it."""
    watch = Watch(engine)
    watch.start()
    run = boxed.run(spec(boxed, engine.busybox(), ["sh", "-c", f"known_load 2 4 {256 * MB}; exec sleep 2"]), timeout=120)
    watch.join(30)
    used = run["footprint"]["cpu_cores"]["mean"] * run["duration_seconds"]
    assert used == pytest.approx(watch.cpu_seconds(), rel=0.03)
    assert run["exit"]["user_seconds"] + run["exit"]["system_seconds"] == pytest.approx(watch.cpu_seconds(), rel=0.03)
    assert run["footprint"]["memory_bytes"]["peak"] == pytest.approx(watch.peak_memory, rel=0.03)


def written(said):
    """What Docker counts from blkio, in bytes."""
    counted = said["blkio_stats"]["io_service_bytes_recursive"] or []
    return sum(entry["value"] for entry in counted if entry["op"].lower() == "write")


def tolerance(run):
    """What lies before the first sample and behind the last one is in nobody's mean."""
    return 0.03 + 0.2 / run["duration_seconds"]


def test_what_goes_to_disk_agrees_with_the_engine(place, dockerd):
    """Docker's own numbers alone: Podman adds what it read of the image's layers."""
    use(place, dockerd)
    watch = Watch(dockerd)
    watch.start()
    write = "sleep 1; dd if=/dev/zero of=/big bs=1M count=64 conv=fsync; exec sleep 2"
    run = place.run(spec(place, dockerd.busybox(), ["sh", "-c", write]), timeout=120)
    watch.join(30)
    # Newer kernels count nothing for groups without a limit, so the engine tells nothing there.
    counted = written(watch.last) or 64 * MB
    assert counted >= 64 * MB
    told = run["footprint"]["disk_write_bytes_per_second"]["mean"] * run["duration_seconds"]
    assert told == pytest.approx(counted, rel=tolerance(run))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()


@contextlib.contextmanager
def served(folder, address):
    server = http.server.ThreadingHTTPServer((address, 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{address}:{server.server_port}"
    server.shutdown()


def test_what_comes_over_the_network_agrees_with_the_engine(place, dockerd):
    """Podman's own numbers have received and sent the wrong way round."""
    use(place, dockerd)
    (place.folder / "big").write_bytes(os.urandom(20 * MB))
    network = dockerd.get("/networks/bridge")["IPAM"]["Config"][0]
    watch = Watch(dockerd)
    with served(place.folder, network["Gateway"]) as url:
        fetch = (f"import time, urllib.request\ntime.sleep(1)\nlen(urllib.request.urlopen('{url}/big').read())\n"
                 "time.sleep(1.5)")
        watch.start()
        run = place.run(spec(place, dockerd.python(), ["/usr/bin/python3", "-c", fetch]))
    watch.join(30)
    received = run["footprint"]["network_receive_bytes_per_second"]["mean"] * run["duration_seconds"]
    assert received == pytest.approx(watch.last["networks"]["eth0"]["rx_bytes"], rel=tolerance(run))


LINK_APP = """
import time, urllib.request
time.sleep(1)  # the link is limited a moment after the start
for body in (None, bytes({size})):
    start = time.monotonic()
    urllib.request.urlopen('{url}/some', body).read()
    print(time.monotonic() - start)
"""


def test_a_link_has_its_rate_in_both_directions(place, dockerd):
    """Half a megabyte at two megabits a second takes two seconds."""
    use(place, dockerd)
    size = 500_000
    (place.folder / "some").write_bytes(bytes(size))
    network = dockerd.get("/networks/bridge")["IPAM"]["Config"][0]
    with served(place.folder, network["Gateway"]) as url:
        words = ["/usr/bin/python3", "-c", LINK_APP.format(size=size, url=url)]
        target = {"args": words, "resources": {"network": {"rate": "2mbit"}}}
        document = place.json("run", "--json", spec(place, dockerd.python(), target))
    received, sent = map(float, log(document, 1).split())
    assert received == pytest.approx(2, rel=0.25)
    assert sent == pytest.approx(2, rel=0.25)


def test_the_engine_that_copies_what_a_container_prints_is_no_other(boxed, engine):
    chatty = ["sh", "-c", "while :; do head -c 200000 /dev/zero; sleep 0.01; done"]
    run = boxed.run(spec(boxed, engine.busybox(), {"args": chatty, "timeout": "4s", "grace": "1s"}))
    names = [process["name"] for process in run["other_load"]["processes"]]
    assert "container engine" in names and not {"dockerd", "containerd-shim", "conmon", "podman"} & set(names)
    assert run["other_load"]["cpu_cores"]["source"].endswith(" and the container engine")
    assert not [name for name in run["other_load"] if name.startswith("network_")]
