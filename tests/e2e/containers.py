# SPDX-License-Identifier: Apache-2.0
"""What the tests of container runs share."""
import datetime
import json
import threading

import pytest
from conftest import wait_until

MB = 1 << 20
# Says that it runs, and goes on until it is told to end.
TICKING = ["sh", "-c", "trap 'exit 5' TERM INT; while :; do echo tick; sleep 0.1; done"]


def spec(place, image, *targets, **profiling):
    """A spec's path; each target is a list of words for the image, or a map."""
    listed = [target if isinstance(target, dict) else {"args": target} for target in targets]
    document = {"name": "boxed", "version": "1", "image": image, "profiling": {"targets": listed, **profiling}}
    return place.script("sage.yaml", json.dumps(document))  # JSON is YAML


def use(place, engine):
    """Makes `assay` talk to this engine."""
    place.env["DOCKER_HOST"] = engine.host
    return place


@pytest.fixture(params=["dockerd", "podman"])
def engine(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def boxed(place, engine):
    """A place whose `assay` talks to the engine; no container of ours may be left."""
    yield use(place, engine)
    left = engine.containers()
    for container in left:
        engine.remove(container)
    assert left == []


def log(document, run, name="stdout"):
    with open(f"{document['folder']}/run-{run}/{name}.log", encoding="utf-8") as file:
        return file.read()


def running(engine):
    """The only running container of ours, as soon as there is one."""
    def found():
        ids = engine.containers(status="running")
        return ids[0] if len(ids) == 1 else None
    return wait_until(found, 30, "the app's container runs")


def is_ticking(place, engine, ticks=5):
    """The container of TICKING, as soon as some of its output has reached the session's folder: ten ticks a second."""
    def found():
        return any(path.stat().st_size >= ticks * len("tick\n") for path in place.folder.rglob("run-1/stdout.log"))
    wait_until(found, 30, "the app's output is kept")
    return running(engine)


class Watch(threading.Thread):
    """What the engine itself says about our container, asked again and again while it lives."""

    def __init__(self, engine):
        super().__init__(daemon=True)
        self.engine, self.last, self.peak_memory = engine, {}, 0
        self.peak_working_set, self.knows_cache = 0, False  # Podman does not tell the page cache

    def run(self):
        container = running(self.engine)
        while (said := self._ask(container)).get("pids_stats", {}).get("current"):
            self.last = said
            memory = said["memory_stats"]
            self.peak_memory = max(self.peak_memory, memory["usage"])
            cache = memory.get("stats", {}).get("total_inactive_file")
            if cache is not None:
                self.knows_cache = True
                self.peak_working_set = max(self.peak_working_set, memory["usage"] - cache)

    def _ask(self, container):
        """Nothing when it has ended."""
        status, said = self.engine.call("GET", f"/containers/{container}/stats", stream="false", **{"one-shot": "true"})
        return said if status == 200 and isinstance(said, dict) else {}

    def time(self):
        """Of its last answer, in seconds since 1970."""
        said = datetime.datetime.fromisoformat(self.last["read"][:26].rstrip("Z"))
        return said.replace(tzinfo=datetime.timezone.utc).timestamp()

    def cpu_seconds(self):
        return self.last["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9
