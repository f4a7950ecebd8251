# SPDX-License-Identifier: Apache-2.0
"""A store that machines share: a real PostgreSQL that comes and goes."""
import pathlib
import tempfile

import pytest
from conftest import Place, wait_until
from postgres import Postgres
from test_placement import CALL, Service, write_runs


@pytest.fixture(scope="module")
def postgres():
    # Below pytest's own folder only its owner may look.
    with tempfile.TemporaryDirectory(prefix="assay-pg-") as folder:
        pathlib.Path(folder).chmod(0o711)
        server = Postgres(pathlib.Path(folder) / "pg")
        server.start()
        yield server
        server.kill()


@pytest.fixture
def trained(postgres, tmp_path):
    """What was learned on one machine is in the store that all share."""
    place = Place(tmp_path / "here")
    place.folder.mkdir()
    write_runs(place.folder / "runs.csv")
    done = place.assay("train", "runs.csv", "--shared", postgres.url, timeout=120)
    assert done.returncode == 0 and "the shared store" in done.stdout, done.stderr + done.stdout
    made = place.assay("model", "make", "squeezenet", "--width", "0.5", "--resolution", "64", "-o", tmp_path / "net.onnx")
    assert made.returncode == 0, made.stderr
    return place


def test_what_was_learned_here_is_told_there(postgres, trained, tmp_path):
    there = Place(tmp_path / "there")
    there.folder.mkdir()
    here = trained.json("predict", tmp_path / "net.onnx", "--all", "--json")
    assert there.json("predict", tmp_path / "net.onnx", "--all", "--json", "--shared", postgres.url) == here
    assert there.json("predict", tmp_path / "net.onnx", "--all", "--json", ASSAY_SHARED=postgres.url) == here
    assert there.assay("predict", tmp_path / "net.onnx", "--all").returncode == 4
    assert postgres.query("SELECT name FROM assay_documents WHERE kind = 'learned'").stdout.split() == ["placement"]


def test_devices_that_were_measured_are_shared(postgres, trained, tmp_path):
    measured = trained.assay("device", "calibrate", "--quick", "--name", "desk", "--shared", postgres.url, timeout=300)
    assert measured.returncode == 0, measured.stderr
    there = Place(tmp_path / "there")
    there.folder.mkdir()
    assert [d["device"]["name"] for d in there.json("device", "list", "--json", "--shared", postgres.url)] == ["desk"]
    assert there.json("device", "list", "--json") == []
    assert there.assay("device", "remove", "desk", "--shared", postgres.url).returncode == 0
    assert there.json("device", "list", "--json", "--shared", postgres.url) == []


def test_the_service_outlives_its_store(postgres, trained, tmp_path):
    there = Place(tmp_path / "there")
    there.folder.mkdir()
    service = Service(there, "--shared", postgres.url)
    try:
        assert service.ask("POST", "/api/profiling", CALL, old=True)[0] == 200
        postgres.kill()
        wait_until(lambda: "the older one is still used" in service.log.read_text(), 30, service.log.read_text, every=0.2)
        assert service.ask("POST", "/api/profiling", CALL, old=True)[0] == 200
        postgres.start()
        wait_until(lambda: "all is well again" in service.log.read_text(), 30, service.log.read_text, every=0.2)
        assert service.ask("POST", "/api/profiling", CALL, old=True)[0] == 200
    finally:
        service.end()


def test_a_store_that_is_none_is_said(tmp_path):
    place = Place(tmp_path)
    gone = place.assay("predict", "net.onnx", "--all", "--shared", f"postgresql:///assay?host={tmp_path}")
    assert gone.returncode == 4 and "the shared store does not answer" in gone.stderr, gone.stderr
    wrong = place.assay("predict", "net.onnx", "--all", "--shared", "mysql://host/db")
    assert wrong.returncode == 2 and "postgresql://user@host/database" in wrong.stderr, wrong.stderr
