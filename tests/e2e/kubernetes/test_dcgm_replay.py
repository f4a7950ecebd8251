# SPDX-License-Identifier: Apache-2.0
"""The replayed exporter of GPUs: what Prometheus's own reader makes of it."""
import threading
import urllib.error
import urllib.request

import dcgm_replay
import pytest
from prometheus_client.parser import text_string_to_metric_families


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "job.csv"
    rows = ("1.0,0,0", "2.0,0.5,1048576e2", "3.0,,2097152e2", "4.0,1,2097152e2")
    path.write_text("\n".join(["time,gpu_utilization_ratio,gpu_memory_bytes", *rows]))
    return path


def samples(gpus):
    return {(s.name, s.labels["gpu"]): s for f in text_string_to_metric_families(gpus.text()) for s in f.samples}


def test_a_job_is_told_as_it_was_recorded(recording):
    now = 100.0
    gpus = dcgm_replay.Gpus("node-1", 2, [f"1=team/worker-0/main={recording}"], clock=lambda: now)
    for now, utilization, used in ((100.5, 0, 1), (101.5, 50, 101), (102.5, None, 201), (103.9, 100, 201), (104.5, 0, 1)):
        found = samples(gpus)
        busy = found.get(("DCGM_FI_DEV_GPU_UTIL", "1"))
        assert (busy and busy.value) == utilization
        assert found["DCGM_FI_DEV_FB_USED", "1"].value == used
        assert found["DCGM_FI_DEV_FB_FREE", "1"].value == 143771 - used
    labels = found["DCGM_FI_DEV_FB_USED", "1"].labels
    assert list(labels) == ["gpu", "UUID", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION", "container",
                            "namespace", "pod"]
    assert labels["pod"] == "worker-0" and labels["device"] == "nvidia1" and labels["UUID"].startswith("GPU-")
    assert "pod" not in found["DCGM_FI_DEV_FB_USED", "0"].labels


def test_instances_of_a_divided_gpu_are_told_by_their_engine(recording):
    now = 100.0
    gpus = dcgm_replay.Gpus("node-1", 2, [f"1=team/worker-0/main={recording}"], divided={1: ["1g.18gb", "2g.35gb"]},
                            clock=lambda: now)
    now = 101.5
    told = [s for f in text_string_to_metric_families(gpus.text()) for s in f.samples]
    assert [s.labels["gpu"] for s in told if s.name == "DCGM_FI_DEV_GPU_UTIL"] == ["0"]
    first, second = (s for s in told if s.name == "DCGM_FI_PROF_GR_ENGINE_ACTIVE")
    assert (first.labels["GPU_I_ID"], first.labels["GPU_I_PROFILE"], first.labels["pod"]) == ("1", "1g.18gb", "worker-0")
    assert (first.value, second.value, second.labels["GPU_I_ID"]) == (0.5, 0, "2") and "pod" not in second.labels
    assert first.labels["UUID"] == second.labels["UUID"]
    used = {s.labels.get("GPU_I_ID"): s.value for s in told if s.name == "DCGM_FI_DEV_FB_USED"}
    assert used == {None: 1, "1": 101, "2": 1}


def test_jobs_are_replaced_over_http(recording):
    server = dcgm_replay.serve(dcgm_replay.Gpus("node-1", 1), "127.0.0.1:0")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"

    def put(body):
        with urllib.request.urlopen(urllib.request.Request(f"{url}/jobs", body.encode(), method="PUT"), timeout=5) as answer:
            return answer.status
    try:
        assert put(f'["0=team/later/main={recording}"]') == 200
        with urllib.request.urlopen(f"{url}/metrics", timeout=5) as answer:
            assert 'pod="later"' in answer.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="422"):
            put('["0=nonsense"]')
    finally:
        server.shutdown()
        server.server_close()
