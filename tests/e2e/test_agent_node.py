# SPDX-License-Identifier: Apache-2.0
"""`assay-agent` tells of its node what Debian's node_exporter tells beside it, under the same names.

Counters are compared exactly: ours is read before and after theirs, which must be in between. Of gauges each has the
tolerance that is written at `tolerance`.
"""
import os
import re
import shutil
import subprocess
import urllib.request

import pytest
from conftest import BIN, HERE, wait_until
from ports import free_port
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

AGENT = str(BIN / "assay-agent")
EXPORTER = shutil.which("prometheus-node-exporter")
TREES = HERE.parent / "sysroots"
EXPECTED = HERE.parents[1] / "src/agent/testdata/node"
# What node_exporter leaves out where its packager does not say otherwise, as Debian does.
UPSTREAM = [
    "--collector.netdev.device-exclude=",
    r"--collector.diskstats.device-exclude=^(z?ram|loop|fd|(h|s|v|xv)d[a-z]|nvme\d+n\d+p)\d+$",
    "--collector.filesystem.mount-points-exclude="
    "^/(dev|proc|run/credentials/.+|sys|var/lib/docker/.+|var/lib/containers/storage/.+)($|/)",
]


def read(address, accept="text/plain"):
    request = urllib.request.Request(f"http://{address}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


def answers(address):
    try:
        return bool(read(address))
    except OSError:
        return False


@pytest.fixture
def agent(tmp_path):
    """Starts agents; gives the address of each."""
    started = []

    def start(*arguments):
        log = tmp_path / f"agent{len(started)}.log"
        with open(log, "wb") as err:
            process = subprocess.Popen([AGENT, "--listen", "127.0.0.1:0", "--docker", "", *arguments], stderr=err)
        started.append(process)
        found = wait_until(lambda: re.search(r"listening at (\S+:\d+)", log.read_text()), 20, log.read_text)
        return found[1]

    yield start
    for process in started:
        process.terminate()
        assert process.wait(timeout=20) == 0


@pytest.fixture
def exporter():
    """Starts node_exporters; gives the address of each."""
    started = []

    def start(*arguments):
        address = f"127.0.0.1:{free_port()}"
        started.append(subprocess.Popen([EXPORTER, f"--web.listen-address={address}", *arguments],
                                        stderr=subprocess.DEVNULL))
        wait_until(lambda: answers(address), 20, "node_exporter answers")
        return address

    yield start
    for process in started:
        process.kill()
        process.wait()


def parsed(text):
    """{family: kind}, {(name, labels): value}; labels without a value are none."""
    kinds, values = {}, {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            kinds[sample.name] = family.type
            labels = frozenset((k, v) for k, v in sample.labels.items() if v)
            assert (sample.name, labels) not in values, f"twice: {sample}"
            values[sample.name, labels] = sample.value
    return kinds, values


def series(values, family):
    return {labels for name, labels in values if name == family}


def tolerance(name, labels, values):
    """How far a gauge of ours may be from theirs, read a moment later on a busy machine; None: any distance."""
    if name in ("node_procs_running", "node_procs_blocked", "node_disk_io_now"):
        return None
    if name.startswith("node_memory_") and name.endswith("_bytes"):
        return 0.05 * values["node_memory_MemTotal_bytes", frozenset()]
    if name in ("node_filesystem_free_bytes", "node_filesystem_avail_bytes"):
        return 0.05 * values["node_filesystem_size_bytes", labels]
    if name == "node_filesystem_files_free":
        return 0.05 * values["node_filesystem_files", labels]
    if name.startswith("node_load"):
        return 2.0
    if name == "node_filefd_allocated":
        return 0.2 * values[name, labels]
    return 0


def is_counted(name, kinds):
    return kinds[name] == "counter" or name.startswith("node_vmstat_") or name == "node_time_seconds"


def test_both_tell_the_same_of_this_machine(agent, exporter):
    ours_at, theirs_at = agent(), exporter(*UPSTREAM)

    different = []

    def three():
        """Before, theirs, after; once no device came or went meanwhile."""
        texts = [parsed(read(at)) for at in (ours_at, theirs_at, ours_at)]
        names = {name for name in texts[0][0] if name.startswith("node_") and name in texts[1][0]}
        different[:] = [name for name in sorted(names)
                        if not series(texts[0][1], name) == series(texts[1][1], name) == series(texts[2][1], name)]
        return texts if not different else None

    (kinds, before), (their_kinds, theirs), (_, after) = wait_until(three, 60, lambda: f"the same devices in all three: {different}")
    common = {name for name in kinds if name.startswith("node_") and name in their_kinds}
    assert {name for name in kinds if name.startswith("node_")} == common, "families that only we have"
    assert len(common) >= 100
    for name in sorted(common):
        assert kinds[name] == their_kinds[name], name
        for labels in series(before, name):
            low, value, high = (values[name, labels] for values in (before, theirs, after))
            where = f"{name}{dict(labels)}: {low}, theirs {value}, {high}"
            if is_counted(name, kinds):
                # They add and divide in another order: the last digits differ.
                assert low - 1e-6 * low <= value <= high + 1e-6 * high, where
            elif (allowed := tolerance(name, labels, before)) is not None:
                assert min(low, high) - allowed <= value <= max(low, high) + allowed, where


@pytest.mark.parametrize("tree, without, least", [
    ("raspberry-pi-4", (), 40),
    ("jetson-agx-orin", (), 20),
    ("x86-laptop", ("hwmon",), 18),  # two chips of one name and no device: theirs fails there
    ("vm-cgroup-v1", (), 60),
    ("gpu-server-cgroup-v2", (), 60),
])
def test_both_tell_the_same_of_a_captured_tree(exporter, tree, without, least):
    collectors = {"cpu", "stat", "meminfo", "vmstat", "pressure", "diskstats", "filefd", "loadavg", "hwmon",
                  "thermal_zone", "rapl"} - set(without)
    sys_path = TREES / tree / "sys"
    text = read(exporter("--collector.disable-defaults", *UPSTREAM, f"--path.procfs={TREES / tree / 'proc'}",
                         f"--path.sysfs={sys_path}", *(f"--collector.{name}" for name in collectors)))
    their_kinds, theirs = parsed(text.replace(f'path="{sys_path}/', 'path="/sys/'))
    kinds, ours = parsed((EXPECTED / f"{tree}.prom").read_text())
    common = {name for name in kinds if name in their_kinds}
    assert len(common) >= least, sorted(common)
    for name in sorted(common):
        assert kinds[name] == their_kinds[name], name
        assert series(ours, name) == series(theirs, name), name
        for labels in series(ours, name):
            assert ours[name, labels] == pytest.approx(theirs[name, labels], rel=1e-12), (name, labels)


def complaints(text):
    """promtool's, and its exit status: 1 is for what it cannot read, 3 for names that it would choose otherwise."""
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    return set(done.stderr.splitlines()), done.returncode


def test_promtool_complains_of_no_name_but_those_of_node_exporter(agent, exporter):
    text = read(agent())
    lines = [line for line in text.splitlines() if "node_memory_" not in line]
    assert complaints("\n".join(lines) + "\n") == (set(), 0)
    ours, status = complaints(text)
    theirs, their_status = complaints(read(exporter(*UPSTREAM)))
    assert ours <= theirs
    assert status == their_status == 3, "the kernel's words, such as MemFree, are no snake_case"


def test_openmetrics_has_the_same_series(agent):
    at = agent("--no-containers")

    different = []

    def are_same():
        """Once no device came or went meanwhile."""
        classic, text = read(at), read(at, "application/openmetrics-text; version=1.0.0")
        found = {(sample.name, frozenset((k, v) for k, v in sample.labels.items() if v))
                 for family in openmetrics_families(text) for sample in family.samples}
        different[:] = found ^ set(parsed(classic)[1])
        return found and not different

    wait_until(are_same, 60, lambda: f"both have the same: {different}")


@pytest.mark.parametrize("switch, prefix", [("--no-node", "node_"), ("--no-characteristics", "char_node_"),
                                            ("--no-containers", "container_")])
def test_each_group_of_families_can_be_switched_off(agent, switch, prefix):
    with_all, without = parsed(read(agent()))[0], parsed(read(agent(switch)))[0]
    if prefix != "container_":  # there may be no container here
        assert any(name.startswith(prefix) for name in with_all)
    assert not any(name.startswith(prefix) for name in without)
    others = [name for name in with_all if name.startswith(("node_", "char_node_")) and not name.startswith(prefix)]
    assert others and set(others) <= set(without)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_mount_that_comes_and_goes_is_seen(agent, tmp_path):
    at = agent()
    folder = tmp_path / "two words"
    folder.mkdir()

    def size():
        labels = frozenset({("device", "assay-test"), ("fstype", "tmpfs"), ("mountpoint", str(folder))})
        return parsed(read(at))[1].get(("node_filesystem_size_bytes", labels))

    assert size() is None
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "assay-test", folder], check=True)
    try:
        assert size() == 1 << 20
    finally:
        subprocess.run(["umount", folder], check=True)
    assert size() is None


@pytest.fixture
def service():
    """A control group with a service's name, as systemd makes them; gives its path in the tree."""
    name = f"assay-e2e-{os.getpid()}.service"
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        trees = [line.split()[1] for line in mounts if line.split()[2] in ("cgroup", "cgroup2") and
                 "cpuset" not in line.split()[3]]
    made = []
    try:
        for tree in trees:
            os.mkdir(f"{tree}/{name}")
            made.append(f"{tree}/{name}")
        yield f"/{name}"
    finally:
        for folder in made:
            os.rmdir(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="making control groups needs root")
def test_services_can_be_switched_off(agent, service):
    with_services, without = agent(), agent("--no-services")

    def is_told(at):
        return any(dict(labels).get("id") == service for name, labels in parsed(read(at))[1]
                   if name.startswith("container_"))

    wait_until(lambda: is_told(with_services), 10, "the service is told")
    assert not is_told(without)
