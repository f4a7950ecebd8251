# SPDX-License-Identifier: Apache-2.0
import harness
import pytest


def test_a_known_ratio_lies_in_its_interval():
    pairs = [(1.0 + i * 0.01, (1.0 + i * 0.01) * (1.02 + (-1) ** i * 0.001)) for i in range(20)]
    mean, low, high = harness.ratio_interval(pairs)
    assert low < mean < high
    assert mean == pytest.approx(1.02, abs=1e-4) and high - low < 0.002


def test_noise_widens_the_interval():
    quiet = harness.ratio_interval([(1, 1.01), (1, 0.99)] * 10)
    loud = harness.ratio_interval([(1, 1.1), (1, 0.9)] * 10)
    assert loud[2] - loud[1] > 5 * (quiet[2] - quiet[1])


def test_a_few_disturbed_pairs_do_not_decide_when_they_are_trimmed():
    pairs = [(1, 1.002), (1, 0.998)] * 50 + [(1, 3), (1, 2)]
    assert harness.ratio_interval(pairs)[0] > 1.015
    mean, low, high = harness.ratio_interval(pairs, trim=0.1)
    assert 0.998 < low <= mean <= high < 1.002


@pytest.mark.parametrize("p, value", [(50, 20), (95, 38), (100, 40)])
def test_percentiles(p, value):
    assert harness.percentile(range(1, 41), p) == value


def test_what_was_measured_is_not_measured_again(tmp_path):
    calls = []

    def measure():
        calls.append(1)
        return {"seconds": 1.5}

    assert harness.Bench("part", tmp_path, tmp_path).once("a", measure) == {"seconds": 1.5}
    again = harness.Bench("part", tmp_path, tmp_path)
    assert again.once("a", measure) == {"seconds": 1.5} and len(calls) == 1
    again.once("b", measure)
    assert len(calls) == 2


@pytest.mark.parametrize("cut", [b'{"key": "c", "va', b'{"key": "\xc3'])
def test_a_line_that_was_cut_off_is_measured_again(tmp_path, cut):
    first = harness.Bench("part", tmp_path, tmp_path)
    first.once("a", lambda: 1)
    with open(first.file, "ab") as f:
        f.write(cut)
    again = harness.Bench("part", tmp_path, tmp_path)
    assert again.kept == {"a": 1}
    again.once("c", lambda: 2)
    assert harness.Bench("part", tmp_path, tmp_path).kept == {"a": 1, "c": 2}


def test_a_file_of_one_cut_line_is_empty(tmp_path):
    (tmp_path / "part.jsonl").write_text('{"ke')
    bench = harness.Bench("part", tmp_path, tmp_path)
    assert bench.kept == {} and bench.file.read_text() == ""


def test_a_failed_number_shows_in_the_table(tmp_path, capsys):
    bench = harness.Bench("part", tmp_path, tmp_path)
    bench.row("slowdown", "2 %", "40 pairs", "at most 1 %", False)
    assert "| slowdown | 2 % | 40 pairs | at most 1 % | FAIL |" in harness.markdown("t", bench.rows)
    assert "FAIL" in capsys.readouterr().out
