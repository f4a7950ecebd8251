# SPDX-License-Identifier: Apache-2.0
"""What an app needs beside it: started first, awaited, measured apart, stopped after, and never left behind."""
import json
import time

import pytest
from conftest import wait_until
from containers import TICKING, engine, log, spec, use  # noqa: F401 (a fixture)

SERVE = "exec httpd -f -p 8000 -h /etc"
FETCH = ["/usr/bin/python3", "-c", "import urllib.request as u; print(u.urlopen('http://broker:8000/passwd').read()[:5])"]
LABELLED = json.dumps({"label": ["assay.session"]})


def networks(engine):
    return [network["Id"] for network in engine.get("/networks", filters=LABELLED)]


@pytest.fixture
def boxed(place, dockerd):
    yield use(place, dockerd)
    left = dockerd.containers(), networks(dockerd)
    for container in left[0]:
        dockerd.remove(container)
    for network in left[1]:
        dockerd.call("DELETE", f"/networks/{network}")
    assert left == ([], [])


def broker(engine, script, **more):
    return {"name": "broker", "image": engine.busybox(), "command": ["sh", "-c", script], **more}


def test_the_app_reaches_by_name_what_is_ready_and_nothing_stays(place, engine):
    """Ready is a port here; its own load before that is not the app's."""
    need = broker(engine, f"known_load 1 2 0; {SERVE}", ready_port=8000)
    document = use(place, engine).json("run", "--json", spec(
        place, engine.python(), {"args": FETCH, "needs": [need]}))
    run = document["runs"][0]
    assert log(document, 1) == "b'root:'\n", log(document, 1, "stderr")
    assert run["exit"]["user_seconds"] + run["exit"]["system_seconds"] < 1.9
    assert engine.containers() == [] and networks(engine) == []


def test_a_line_of_the_log_tells_that_it_is_ready(boxed, dockerd):
    """The app starts only afterwards, and finds in its own log folder what the other said."""
    need = broker(dockerd, "echo starting; sleep 0.7; echo 'now rea'; echo 'is ready' >&2; sleep 600",
                  ready_log="is ready")
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {"args": ["true"], "needs": [need]}))
    assert sorted(log(document, 1, "broker").split("\n")) == ["", "is ready", "now rea", "starting"]


def test_each_is_started_when_the_one_before_is_ready_and_knows_it(boxed, dockerd):
    first = broker(dockerd, SERVE, ready_port=8000)
    second = {"name": "model", "image": dockerd.python(), "ready_log": "root", "command": FETCH[:2] + [
        FETCH[2] + "; import time; time.sleep(600)"], "env": {"PYTHONUNBUFFERED": "1"}}
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {"args": ["true"], "needs": [first, second]}))
    assert document["runs"][0]["status"] == "finished"


@pytest.mark.parametrize("script, ready, words", [
    ("echo loading; sleep 600", {"ready_log": "never said", "ready_timeout": "3s"},
     ["broker was not ready after 3 s", '"never said" in its log', "loading"]),
    ("exec httpd -f -p 127.0.0.1:9000", {"ready_port": 9000, "ready_timeout": "3s"},
     ["broker was not ready after 3 s", "port 9000", "it said nothing"]),
    ("echo no licence; exit 3", {"ready_port": 8000}, ["broker ended before it was ready", "code 3", "no licence"]),
    ("exec nosuch", {"ready_port": 8000}, ["broker ended before it was ready", "code 127"]),
])
def test_one_that_is_never_ready_is_told(boxed, dockerd, script, ready, words):
    done = boxed.assay("run", spec(boxed, dockerd.busybox(), {
        "args": ["true"], "needs": [broker(dockerd, script, **ready)]}))
    assert done.returncode == 4, done.stdout + done.stderr
    assert all(word in done.stderr for word in words), done.stderr


def test_secrets_in_its_log_and_in_its_sign_are_hidden(boxed, dockerd):
    """Neither the screen nor the history has them, whether named or only known from a variable."""
    secret = "not-for-everybody"
    need = broker(dockerd, f"echo listening as root/$DB_PASSWORD; echo token={secret}; sleep 600",
                  ready_log=f"never said {secret}", ready_timeout="3s", env={"DB_PASSWORD": secret})
    path = spec(boxed, dockerd.busybox(), {"args": ["true"], "needs": []}, {"args": ["true"], "needs": [need]})
    done = boxed.assay("run", path)
    assert done.returncode == 4, done.stdout + done.stderr
    assert secret not in done.stdout + done.stderr
    detail = boxed.last()["runs"][1]["exit"]["detail"]
    assert '"never said ***" in its log' in detail and "root/***" in detail and "token=***" in detail
    assert secret not in json.dumps(boxed.last())


def test_one_that_ends_in_the_middle_is_noted_and_the_app_goes_on(boxed, dockerd):
    need = broker(dockerd, "sleep 3; exit 4")
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {
        "args": ["sh", "-c", "sleep 5; echo done"], "needs": [need]}))
    run = document["runs"][0]
    assert run["status"] == "finished" and log(document, 1) == "done\n"
    [why] = [gap["why"] for gap in run["not_measured"] if gap["what"] == "broker"]
    assert "before the app: exited with code 4" in why


@pytest.mark.parametrize("trap, said, grace, least", [
    ("echo bye; exit 0", "bye", "10m", 0),  # far beyond this test's patience
    ("echo not yet", "not yet", "2s", 2),
])
def test_it_is_stopped_after_the_app_and_may_say_good_bye(boxed, dockerd, trap, said, grace, least):
    """One that does not end when it is told to is killed after the grace."""
    need = broker(dockerd, f"trap '{trap}' TERM; echo up; while :; do sleep 0.1; done", ready_log="up")
    began = time.monotonic()
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {
        "args": ["sleep", "0.5"], "grace": grace, "needs": [need]}))
    assert time.monotonic() - began >= least + document["runs"][0]["duration_seconds"]
    assert log(document, 1, "broker").split("\n") == ["up", said, ""]
    assert "broker" not in [gap["what"] for gap in document["runs"][0]["not_measured"]]


def test_it_is_measured_apart_from_the_app(boxed, dockerd):
    """The other is busy, the app is not; and the other disturbs nobody."""
    need = broker(dockerd, "cp $(which known_load) /busy_broker; exec /busy_broker 1 600 0")  # a name that nobody else has
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), {
        "args": ["sleep", "600"], "timeout": "3s", "grace": "100ms", "needs": [need]}))
    run = document["runs"][0]
    assert run["needs"]["broker"]["cpu_cores"]["mean"] > 2 * run["footprint"]["cpu_cores"]["mean"]
    assert run["needs"]["broker"]["memory_bytes"]["peak"] > 0
    assert "busy_broker" not in [other["name"] for other in run["other_load"].get("processes", [])]
    page = boxed.assay("report", document["session"], "--format", "csv").stdout
    assert ",need,memory_bytes,need=broker," in page


def test_playback_is_reached_from_the_network_of_both(boxed, dockerd):
    """The app is on another network than usual, with another way to this machine."""
    frames = boxed.folder / "frames"
    frames.mkdir()
    picture = b"\xff\xd8\xff\xd9"
    (frames / "1.jpg").write_bytes(picture)
    look = ("import json, urllib.request as u; source = json.load(open('/run/waggle/data-config.json'))[0]; "
            "print(len(u.urlopen(source['handler']['args']['url'], timeout=20).read()))")
    document = boxed.json("run", "--json", spec(boxed, dockerd.python(), {
        "args": ["/usr/bin/python3", "-c", look], "needs": [broker(dockerd, "sleep 600")], "dataset": str(frames),
        "playback": [{"id": "top", "type": "image"}]}))
    assert log(document, 1) == f"{len(picture)}\n", log(document, 1, "stderr")


def test_on_a_limited_link_the_run_says_that_the_others_share_it(boxed, dockerd):
    alone = {"args": ["sleep", "1"], "resources": {"network": {"rate": "2mbit"}}}
    document = boxed.json("run", "--json", spec(boxed, dockerd.busybox(), alone, {
        **alone, "needs": [broker(dockerd, "sleep 600")]}))
    notes = [[gap["why"] for gap in run["not_measured"] if gap["what"] == "network link"] for run in document["runs"]]
    assert notes == [[], ["playback and needs share the limited link with the rest of what the app sends and receives"]]


@pytest.mark.parametrize("network", ["host", "none"])
def test_a_network_that_others_cannot_join_is_refused_before_the_start(boxed, dockerd, network):
    done = boxed.assay("run", spec(boxed, dockerd.busybox(), {
        "args": ["true"], "docker_args": ["--network", network], "needs": [broker(dockerd, "sleep 600")]}))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "sage.yaml:" in done.stderr and f"needs: they cannot be reached from --network {network}" in done.stderr


def test_on_a_network_of_the_users_own_it_is_found_by_name(boxed, dockerd):
    policy = boxed.folder / "policy.yaml"
    policy.write_text("networks: [lab]\n")
    policy.chmod(0o600)
    boxed.env["ASSAY_POLICY"] = str(policy)
    dockerd.call("POST", "/networks/create", {"Name": "lab"})
    try:
        document = boxed.json("run", "--json", spec(boxed, dockerd.python(), {
            "args": FETCH, "docker_args": ["--network", "lab"], "needs": [broker(dockerd, SERVE, ready_port=8000)]}))
        assert log(document, 1) == "b'root:'\n", log(document, 1, "stderr")
    finally:
        assert dockerd.call("DELETE", "/networks/lab")[0] == 204  # it was left alone, and nobody is on it


def test_an_interrupt_ends_the_waiting_at_once(boxed, dockerd):
    process = boxed.start("run", "--quiet", spec(boxed, dockerd.busybox(), {
        "args": ["true"], "needs": [broker(dockerd, "echo up; sleep 600", ready_port=8000, ready_timeout="10m")]}))
    wait_until(lambda: any(boxed.folder.rglob("run-1/broker.log")) and dockerd.containers(status="running"), 30,
               "the other container runs")
    process.send_signal(2)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert boxed.last()["runs"][0]["status"] == "interrupted"


@pytest.mark.parametrize("moment", ["while it waits", "while the app runs"])
def test_a_killed_session_leaves_nothing_after_the_clean_up(place, engine, moment):
    """A network that only looks like ours is left alone."""
    _, strange = engine.call("POST", "/networks/create", {"Name": "strange", "Labels": {"assay.session": "x"}})
    use(place, engine)
    waits = moment == "while it waits"
    killed = place.start("run", "--quiet", spec(place, engine.busybox(), {
        "args": TICKING, "needs": [broker(engine, "sleep 600", **({"ready_port": 8000} if waits else {}))]}))
    wait_until(lambda: len(engine.containers(status="running")) == (1 if waits else 2), 30, "all run")
    killed.kill()
    killed.communicate()
    done = place.assay("cleanup")
    assert done.returncode == 0 and "removed network" in done.stdout, done.stdout + done.stderr
    assert engine.containers() == [] and networks(engine) == [strange["Id"]]
    assert engine.call("DELETE", "/networks/strange")[0] == 204
    assert [run["status"] for run in place.last()["runs"]] == ["interrupted"]
