# SPDX-License-Identifier: Apache-2.0
"""`assay analyze` of what a real Prometheus has."""
import pytest
from prometheus import Prometheus

WAVE = "50 + 40 * sin(2 * pi() * vector(time()) / 600)"


@pytest.fixture
def asked(place, tmp_path):
    """Runs `assay analyze` for an expression."""
    prometheus = Prometheus(tmp_path, "")
    prometheus.start()
    yield lambda query, *more, run=place.assay, **how: run(
        "analyze", "--prometheus", f"http://{prometheus.address}", "--query", query, *more, **how)
    prometheus.kill()


def test_a_series_of_prometheus_is_told_like_any_other(asked, place):
    told = asked(WAVE, "--for", "2h")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(f"{WAVE}:\n  repeats every 10 min "), told.stdout
    found = asked(WAVE, "--for", "2h", "--step", "30s", "--horizon", "10m", "--json", run=place.json)
    assert found["cycles"][0]["period"] == pytest.approx(20, abs=0.1) and len(found["forecast"]["points"]) == 20, found


def test_what_gives_no_single_series_is_told_with_a_way_on(asked):
    two = asked('label_replace(vector(1), "gpu", "0", "", "") or label_replace(vector(2), "gpu", "1", "", "")')
    assert two.returncode == 2 and 'gives 2 series; choose one by its labels' in two.stderr, two.stderr
    assert '{gpu="0"} and {gpu="1"}' in two.stderr, two.stderr
    nothing = asked("nobody_has_this", "--for", "1h")
    assert nothing.returncode == 2 and "'nobody_has_this' has no values in the last 1h" in nothing.stderr, nothing.stderr
    wrong = asked("rate(")
    assert wrong.returncode == 2 and "parse error" in wrong.stderr, wrong.stderr
