# SPDX-License-Identifier: Apache-2.0
"""What a spec may ask of the engine: the operator's policy decides, and what existing scripts pass keeps working."""
import json
import shutil

import pytest
from conftest import HERE
from containers import log, spec, use

LAB = HERE.parents[1] / "deploy/policy-lab.yaml"
LOOK = ["cat", "/run/waggle/data-config.json"]


@pytest.fixture
def boxed(place, dockerd):
    yield use(place, dockerd)
    assert dockerd.containers() == []


@pytest.fixture
def config(place):
    """A user's own data-config.json, as existing scripts mount it."""
    (place.folder / "cameras").mkdir()
    path = place.folder / "cameras/data-config.json"
    path.write_text(json.dumps([{"match": {"id": "mine"}, "handler": {"type": "image", "args": {"url": "file:///x"}}}]))
    return path


def allow_lab(place):
    """A copy of its own, since a policy that others may write is refused."""
    path = place.folder / "policy.yaml"
    shutil.copyfile(LAB, path)
    path.chmod(0o600)
    place.env["ASSAY_POLICY"] = str(path)


def test_doctor_names_the_engine_and_its_socket(boxed):
    rows = {row["what"]: row for row in boxed.json("doctor", "--json")}
    engine = rows["apps in containers"]
    assert engine["available"]
    assert engine["detail"].startswith("Docker ")
    assert engine["detail"].endswith(" at " + boxed.env["DOCKER_HOST"].removeprefix("unix://"))


def test_the_call_of_existing_scripts_passes_in_a_lab(boxed, dockerd, config):
    allow_lab(boxed)
    mount = ["-v", f"{config}:/run/waggle/data-config.json"]
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {"args": LOOK, "docker_args": mount}))
    assert log(document, 1) == config.read_text()


@pytest.mark.parametrize("name", ["dockerd", "podman"])
def test_a_file_allowed_by_name_is_mounted_as_a_copy_that_does_not_stay(place, request, config, name):
    engine = request.getfixturevalue(name)
    boxed = use(place, engine)
    allow_lab(boxed)
    before = config.read_text()
    change = ["sh", "-c", "cd /run/waggle; cat data-config.json; echo more >> data-config.json; cat data-config.json"]
    mount = ["-v", f"{config}:/run/waggle/data-config.json"]
    document = boxed.json("run", "--json", spec(boxed, engine.busybox(), {"args": change, "docker_args": mount}))
    assert log(document, 1) == before + before + "more\n"
    assert config.read_text() == before
    assert list(boxed.folder.rglob("data-config.json")) == [config]


@pytest.mark.parametrize("target", ["/run/waggle/data-config.json", "/run/waggle/./data-config.json"])
def test_a_users_own_cameras_win_over_playback(boxed, dockerd, config, target):
    allow_lab(boxed)
    frames = boxed.folder / "frames"
    frames.mkdir()
    (frames / "1.jpg").write_bytes(b"\xff\xd8\xff\xd9")
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {
        "args": LOOK, "docker_args": ["-v", f"{config}:{target}"], "dataset": str(frames),
        "playback": [{"id": "top", "type": "image"}]}))
    assert log(document, 1) == config.read_text()


def test_a_folder_of_the_system_is_no_dataset(boxed, dockerd):
    done = boxed.assay("run", spec(boxed, dockerd.busybox(), {"args": ["cat", "/data/passwd"], "dataset": "/etc"}))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "sage.yaml:1: dataset '/etc': refused by rule datasets of the built-in policy" in done.stderr
    assert boxed.json("history", "list", "--json") == []


def test_a_closed_network_is_closed_for_those_who_name_none(boxed, dockerd):
    policy = boxed.folder / "policy.yaml"
    policy.write_text("networks: [none]\n")
    policy.chmod(0o600)
    boxed.env["ASSAY_POLICY"] = str(policy)
    done = boxed.assay("run", spec(boxed, dockerd.busybox(), {"args": ["true"]}))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "no --network: refused by rule networks of policy" in done.stderr
    interfaces = ["ls", "/sys/class/net"]
    words = ["--network", "none"]
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {"args": interfaces, "docker_args": words}))
    assert log(document, 1).split() == ["lo"]


@pytest.mark.parametrize("words, named", [
    (["-v", "CONFIG:/run/waggle/data-config.json"], "cameras/data-config.json"), (["--privileged"], "privileged"),
    (["--network", "host"], "host"), (["--ipc", "host"], "ipc"), (["--pid=host"], "pid"),
    (["--device", "/dev/null"], "/dev/null"), (["--cap-add", "SYS_ADMIN"], "SYS_ADMIN"),
    (["-v", "/var/run/docker.sock:/var/run/docker.sock"], "docker.sock"),
])
def test_without_a_policy_file_little_is_allowed(boxed, dockerd, config, words, named):
    words = [word.replace("CONFIG", str(config)) for word in words]
    done = boxed.assay("run", spec(boxed, dockerd.busybox(), {"args": LOOK, "docker_args": words}))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "sage.yaml:" in done.stderr and "policy" in done.stderr and named in done.stderr
    assert boxed.json("history", "list", "--json") == []


def test_the_policy_judges_what_runs_beside_the_app_too(boxed, dockerd):
    policy = boxed.folder / "policy.yaml"
    policy.write_text("env: [APP_*]\n")
    policy.chmod(0o600)
    boxed.env["ASSAY_POLICY"] = str(policy)
    broker = {"name": "broker", "image": dockerd.busybox(), "command": ["sleep", "600"], "env": {"LD_PRELOAD": "x"}}
    done = boxed.assay("run", spec(boxed, dockerd.busybox(), {"args": ["true"], "needs": [broker]}))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "sage.yaml:" in done.stderr and "broker" in done.stderr and "LD_PRELOAD" in done.stderr


def test_harmless_arguments_reach_the_container(boxed, dockerd):
    words = ["-e", "COLOUR=blue", "--shm-size", "32m"]
    look = ["sh", "-c", "echo $COLOUR; df -m /dev/shm | tail -n 1 | awk '{print $2}'"]
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {"args": look, "docker_args": words}))
    assert log(document, 1).split() == ["blue", "32"]
