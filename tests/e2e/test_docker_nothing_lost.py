# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of `assay` at any moment of a container run: no container stays, and every session can be read."""
import os
import random
import time

import pytest
from containers import TICKING, is_ticking, running, spec, use

# Other moments each time; ASSAY_TEST_SEED repeats those of a run that failed.
SEED = int(os.environ.get("ASSAY_TEST_SEED") or random.randrange(1 << 32))
SEEDED = random.Random(SEED)
MOMENTS = [round(SEEDED.uniform(0.02, 3), 3) for _ in range(20)]


@pytest.fixture
def boxed(place, dockerd):
    yield use(place, dockerd)
    for container in dockerd.containers():
        dockerd.remove(container)


def kill_after(process, seconds):
    time.sleep(seconds)  # the moment is the point of the test, not a way to wait for something
    process.kill()
    process.communicate()


@pytest.mark.parametrize("number", range(20))
def test_sigkill_leaves_no_container_after_the_next_start(boxed, dockerd, number):
    """Two targets, so that the moment can lie between them as well."""
    print(f"killed after {MOMENTS[number]} s: ASSAY_TEST_SEED={SEED}")  # shown when the test fails
    path = spec(boxed, dockerd.busybox(), ["sh", "-c", "echo one; sleep 0.7"], TICKING)
    kill_after(boxed.start("run", "--quiet", path), MOMENTS[number])
    done = boxed.assay("run", "--quiet", "--", "true")
    assert done.returncode == 0, done.stderr
    # What Docker was ordered before the kill it may carry out after this start has looked.
    late = dockerd.containers()
    assert all(dockerd.state(one)["Status"] == "created" for one in late), late
    assert not late or boxed.assay("cleanup").returncode == 0
    assert dockerd.containers() == []
    newest, *killed = boxed.json("history", "list", "--json")
    assert newest["status"] == "finished"
    for entry in killed:  # none when it died before the session began
        document = boxed.json("report", entry["session"], "--format", "json")
        assert {run["status"] for run in document["runs"]} <= {"finished", "interrupted"}


def test_clean_up_removes_what_a_killed_session_left(boxed, dockerd):
    process = boxed.start("run", "--quiet", spec(boxed, dockerd.busybox(), TICKING))
    is_ticking(boxed, dockerd, ticks=25)  # what is younger than a second may be lost
    kill_after(process, 0)
    assert boxed.assay("cleanup").returncode == 0
    assert dockerd.containers() == []
    run = boxed.last()["runs"][0]
    assert run["status"] == "interrupted" and run["footprint"]["cpu_cores"]["mean"] > 0


def test_clean_up_leaves_a_living_session_and_foreign_containers_alone(boxed, dockerd):
    foreign = dockerd.run(dockerd.busybox(), "sleep", "600")
    process = boxed.start("run", "--quiet", spec(boxed, dockerd.busybox(), TICKING))
    ours = running(dockerd)
    try:
        assert boxed.assay("cleanup").returncode == 0
        assert dockerd.state(ours)["Running"] and dockerd.state(foreign)["Running"]
        process.send_signal(2)
        assert process.wait(60) == 130
        assert dockerd.containers() == [] and dockerd.state(foreign)["Running"]
    finally:
        dockerd.remove(foreign)
        process.kill()
        process.communicate()


def test_a_container_that_only_looks_like_ours_is_left_alone(boxed, dockerd):
    """The label of a session that this machine's history does not know, with no owner that could be dead."""
    strange = dockerd.run(dockerd.busybox(), "sleep", "600", Labels={"assay.session": "somebody else's"})
    assert boxed.assay("cleanup").returncode == 0
    assert dockerd.state(strange)["Running"]


def test_what_an_engine_that_was_down_kept_is_removed_by_the_next_container_run(boxed, dockerd):
    """A process run in between knows of the session, but cannot ask for its containers: it says who will."""
    process = boxed.start("run", "--quiet", spec(boxed, dockerd.busybox(), TICKING))
    left = is_ticking(boxed, dockerd)
    kill_after(process, 0)
    dockerd.kill()
    done = boxed.assay("run", "--", "true")
    assert done.returncode == 0
    assert "`assay cleanup` or the next run of an image removes them when it answers" in done.stderr
    dockerd.start()
    assert dockerd.containers() == [left]
    done = boxed.assay("run", spec(boxed, dockerd.busybox(), ["true"]))
    assert done.returncode == 0 and f"removed container {left[:12]} of session" in done.stderr
    assert dockerd.containers() == []


def test_clean_up_fails_while_containers_are_known_and_the_engine_is_down(boxed, dockerd):
    """Also when another start has found and marked the session before."""
    process = boxed.start("run", "--quiet", spec(boxed, dockerd.busybox(), TICKING))
    is_ticking(boxed, dockerd)
    kill_after(process, 0)
    dockerd.kill()
    first, second = boxed.assay("cleanup"), boxed.assay("cleanup")
    for done in first, second:
        assert done.returncode == 4, done.stdout + done.stderr
        assert "assay: containers of sessions that were cut off may still be there: " in done.stderr
    assert "was cut off; what it measured is kept" in first.stdout and second.stdout == ""
    dockerd.start()
    done = boxed.assay("cleanup")
    assert done.returncode == 0 and "removed container" in done.stdout, done.stdout + done.stderr
    assert dockerd.containers() == []
