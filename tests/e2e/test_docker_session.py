# SPDX-License-Identifier: Apache-2.0
"""A whole session of an app as an image: dataset, playback, hooks, what pywaggle publishes, a target that runs out
of memory, and numbers as the engine has them."""
import csv
import io
import shutil
import sys

import cv2
import numpy
import pytest
from conftest import HERE
from containers import MB, Watch, log, spec, use

sys.path.insert(0, str(HERE.parents[1] / "examples/objcounter"))
from scene import Scene  # noqa: E402

FPS, FRAMES, SEEN = 10, 40, 60
HELD = 50  # MB
# Holds as many MB as it is told, looks at a camera, and idles at its end.
APP = f"""
import datetime, json, os, sys, time
sys.path.insert(0, '/data')
from assay import LiveMetrics
from data_config_reader import open_data_source
held = bytearray(int(sys.argv[1]) << 20)
held[::4096] = b'1' * len(held[::4096])
camera = open_data_source(id='top_live')
published = open(os.environ['PYWAGGLE_LOG_DIR'] + '/data.ndjson', 'a')
with LiveMetrics({{'fps': LiveMetrics.METRIC_RATE}}) as metrics:
    for n in range({FRAMES}):
        stamp, frame = camera.get()
        metrics.rate('fps')
        when = datetime.datetime.utcfromtimestamp(stamp / 1e9).isoformat(timespec='microseconds') + '000'
        print(json.dumps({{'meta': {{}}, 'name': 'brightness', 'timestamp': when, 'value': float(frame.mean())}}),
              file=published, flush=True)
print(frame.shape, os.listdir('/data') != [])
sys.stdout.flush()
time.sleep(1.5)
os._exit(0)  # the interpreter's own end would come after the engine's last answer
"""


def dataset(folder):
    """Pictures from dark to bright, and the app with its reader."""
    folder.mkdir()
    for n in range(20):
        cv2.imwrite(str(folder / f"frame{n}.jpg"), numpy.full((360, 640, 3), 40 + 8 * n, dtype=numpy.uint8))
    (folder / "camera.py").write_text(APP, encoding="utf-8")
    shutil.copy(HERE / "data_config_reader.py", folder)


@pytest.fixture(params=["dockerd", "podman"])
def engine(request):
    return request.getfixturevalue(request.param)


def test_a_session_with_everything(place, engine):
    use(place, engine)
    dataset(place.folder / "river")
    words = ["/usr/bin/python3", "/data/camera.py"]
    path = spec(place, engine.opencv(), {"name": "good", "args": [*words, str(HELD)]},
                {"name": "too much", "args": [*words, "800"]}, dataset="river", resources={"memory": "500MB"},
                playback=[{"id": "top_live", "files": "*.jpg", "type": "video", "fps": FPS}])
    watch = Watch(engine)
    watch.start()
    document = place.json("run", "--json", path, expect=3, timeout=180)
    watch.join(30)
    good, bad = document["runs"]
    assert log(document, 1) == "(360, 640, 3) True\n", log(document, 1, "stderr")
    assert (good["status"], bad["status"]) == ("finished", "oom")
    assert good["metrics"]["fps"]["mean"] == pytest.approx(FPS, rel=0.1)
    assert good["metrics"]["brightness"]["count"] == FRAMES
    # The totals: a container's first milliseconds pass before its first sample, much of so little work.
    used = good["exit"]["user_seconds"] + good["exit"]["system_seconds"]
    # Its memory is given back after the engine's last answer, which takes some hundredths of a second.
    assert 0.97 * watch.cpu_seconds() < used < 1.03 * watch.cpu_seconds() + 0.05
    peak = good["footprint"]["memory_bytes"]["peak"]
    assert peak <= watch.peak_memory * 1.03
    if watch.knows_cache:
        assert peak == pytest.approx(watch.peak_working_set, rel=0.03)
    else:
        assert peak >= HELD * MB  # the page cache apart, it is all that the engine says
    assert bad["footprint"]["memory_bytes"]["peak"] <= 500e6 * 1.03
    assert bad["exit"]["oom_killed"] is True
    assert engine.containers() == []


def test_the_example_as_an_image_reports_its_own_metrics(place, engine):
    """Named on the command line, with nothing in the image that knows Assay."""
    use(place, engine)
    document = place.json("run", "--json", engine.example(), timeout=180)
    run = document["runs"][0]
    assert document["app"] == {"namespace": "test", "name": "objcounter", "version": "0.1.0",
                               "image": engine.example()}
    assert "300 frames" in log(document, 1) and "the scene has" in log(document, 1)
    assert run["metrics"]["latency"]["count"] == 300
    assert run["metrics"]["fps"]["mean"] > 1
    assert engine.containers() == []


def pictures(folder):
    """A river with animals, as the example draws it."""
    folder.mkdir()
    for n, picture in enumerate(Scene(SEEN, (640, 360))):
        cv2.imwrite(str(folder / f"{n:03}.jpg"), picture)


def used_at(place, moment):
    """The first run's CPU time as it was sampled around that moment."""
    rows = csv.DictReader(io.StringIO(place.assay("report", "last", "--format", "csv").stdout))
    points = [(float(row["time_unix_seconds"]), float(row["value"])) for row in rows
              if (row["run"], row["scope"], row["metric"]) == ("1", "app", "cpu_usage_seconds_total")]
    times, values = zip(*points)
    return numpy.interp(moment, times, values)


def test_the_example_as_an_image_with_its_camera(place, engine):
    """One target looks at the pictures as they are; the other makes them so large that they do not fit."""
    use(place, engine)
    pictures(place.folder / "river")
    words = ["--use-cpu", "--camera", "top_live", "--frames", str(SEEN)]
    path = spec(place, engine.example(), {"name": "as they are", "args": words},
                {"name": "too large", "args": [*words, "--size", "7680x4320"]},
                dataset="river", resources={"memory": "500MB"},
                playback=[{"id": "top_live", "type": "video", "fps": FPS}])
    watch = Watch(engine)
    watch.start()
    document = place.json("run", "--json", path, expect=3, timeout=180)
    watch.join(30)
    good, bad = document["runs"]
    assert f"{SEEN} frames, {Scene(SEEN, (640, 360)).animals} animals" in log(document, 1), log(document, 1, "stderr")
    assert (good["status"], bad["status"], bad["exit"]["oom_killed"]) == ("finished", "oom", True)
    assert good["metrics"]["latency"]["count"] == good["metrics"]["objects"]["count"] == SEEN
    assert good["metrics"]["fps"]["mean"] == pytest.approx(FPS, rel=0.1)
    # Compared at one moment: the interpreter's own end comes after the engine's last answer.
    assert used_at(place, watch.time()) == pytest.approx(watch.cpu_seconds(), rel=0.03, abs=0.15)  # a beat of a core, and a half
    if watch.knows_cache:
        assert good["footprint"]["memory_bytes"]["peak"] == pytest.approx(watch.peak_working_set, rel=0.03)
    assert engine.containers() == []
