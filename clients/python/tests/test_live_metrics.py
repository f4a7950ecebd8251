# SPDX-License-Identifier: Apache-2.0
import threading

import pytest

from assay import METRIC_NUMBER, METRIC_RATE, METRIC_TIMER, LiveMetrics, _sender


def test_push_sends_the_form_that_the_profiler_reads(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.push('fps', 12.5)
    metrics.close()
    assert profiler.read_all() == [{'fps': {'value': 12.5, 'timestamp': 1700001000.0}}]
    assert metrics.dropped == 0


def test_push_tells_the_unit_that_it_is_given(profiler, clock):
    with LiveMetrics(profiler.path) as metrics:
        metrics.push('delay', 12.5, unit='ms')
        metrics.push('delay', 1, 'a "unit"')
        metrics.push('delay', 2)
    assert [m['delay'].get('unit') for m in profiler.read_all()] == ['ms', 'a "unit"', None]


def test_the_socket_is_found_in_the_environment(profiler, monkeypatch):
    monkeypatch.setenv('ASSAY_SOCKET', profiler.path)
    with LiveMetrics() as metrics:
        metrics.push('a', 1)
    assert profiler.values('a') == [1]


def test_timers_report_seconds_in_every_form(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.start_timer('latency')
    clock.now += 0.25
    metrics.stop_timer('latency')
    with metrics.timer('latency'):
        clock.now += 0.5

    @metrics.timer('latency')
    def work(x):
        clock.now += 1
        return x + 1

    assert work(1) == 2
    with pytest.raises(KeyError):
        with metrics.timer('latency'):
            clock.now += 2
            raise KeyError('of the app')
    kept = metrics.timer('latency')
    for seconds in (4, 8):
        clock.now += 100
        with kept:
            clock.now += seconds
    metrics.close()
    messages = profiler.read_all()
    assert [m['latency']['value'] for m in messages] == [0.25, 0.5, 1, 2, 4, 8]
    assert messages[0]['latency']['kind'] == 'timer'
    assert 'kind' not in messages[-1]['latency'], 'told once'


def test_timers_of_threads_are_their_own(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.start_timer('t')
    other = threading.Thread(target=lambda: (metrics.start_timer('t'), metrics.stop_timer('t')))
    other.start()
    other.join()
    clock.now += 3
    metrics.stop_timer('t')
    metrics.close()
    assert profiler.values('t') == [0, 3]


def test_rate_is_averaged_over_the_window(profiler, clock):
    metrics = LiveMetrics(profiler.path, window=1.0)
    for _ in range(41):
        metrics.rate('fps')
        clock.now += 0.0625
    metrics.close()
    # Two whole windows, and more than half of a third at the end.
    assert profiler.values('fps') == pytest.approx([16, 16, 8 / 0.5625])


def test_a_short_life_still_reports_its_rate(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.rate('fps')
    clock.now += 0.1
    metrics.rate('fps', 2)
    metrics.close()
    assert profiler.values('fps') == pytest.approx([20])


def test_the_timer_of_a_rate_reports_how_often_its_work_gets_done(profiler, clock):
    metrics = LiveMetrics({'fps': METRIC_RATE, 'latency': METRIC_TIMER, 'x': METRIC_NUMBER},
                          profiler.path)
    for _ in range(10):
        metrics.start_timer('fps')
        clock.now += 0.125
        metrics.stop_timer('fps')
    metrics.push_metric('x', 3)
    metrics.close()
    messages = profiler.read_all()
    assert [m['fps']['value'] for m in messages if 'fps' in m] == [8]
    assert messages[0]['fps']['kind'] == 'rate'
    assert [m['x'] for m in messages if 'x' in m][0]['kind'] == 'number'


def test_counter_reports_the_total(profiler):
    metrics = LiveMetrics(profiler.path)
    metrics.counter('birds')
    metrics.counter('birds', 2)
    metrics.close()
    messages = profiler.read_all()
    assert [m['birds']['value'] for m in messages] == [1, 3]
    assert messages[0]['birds']['kind'] == 'counter'


def test_update_goes_by_the_kind(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.add_metric('fps', METRIC_RATE)
    for _ in range(3):
        metrics.update('fps')
        clock.now += 1
    metrics.update('n', 5)
    metrics.close()
    messages = profiler.read_all()
    assert [m['fps']['value'] for m in messages if 'fps' in m] == [1, 1]
    assert [m['n']['value'] for m in messages if 'n' in m] == [5]


def test_what_is_no_number_is_dropped_and_counted(profiler):
    metrics = LiveMetrics(profiler.path)
    bad = [float('nan'), float('inf'), -float('inf'), 'x', '1', b'1', None, True, [1], object(), 10 ** 400]
    for value in bad:
        metrics.push('a', value)
        metrics.counter('a', value)
        metrics.rate('a', value)
    for name in ('', None, 5, ['a'], {}):
        metrics.push(name, 1)
    for name in (None, ['a']):
        metrics.start_timer(name)
        metrics.stop_timer(name)
        metrics.rate(name)
        metrics.counter(name)
        metrics.update(name)
        metrics.add_metric(name, METRIC_RATE)
        with metrics.timer(name):
            pass
    metrics.add_metric('a', 99)
    metrics.stop_timer('never started')
    metrics.push('good', 1)
    metrics.close()
    messages = profiler.read_all()
    assert [m['good']['value'] for m in messages if 'good' in m] == [1]
    assert len([m for m in messages if 'a' in m]) == len(bad), 'pushed ones are told for the run to count'
    assert all(m['a']['value'] != m['a']['value'] for m in messages if 'a' in m), 'as NaN'
    assert metrics.dropped == 3 * len(bad) + 5 + 2 * 7 + 2


def test_names_are_quoted(profiler):
    name = 'd\u00e9bit "x"\\\n'
    with LiveMetrics(profiler.path) as metrics:
        metrics.push(name, 1)
    assert profiler.values(name) == [1]


def test_the_first_values_go_at_once_and_further_ones_travel_together(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    for _ in range(_sender.SENDS_AT_ONCE + 5):
        metrics.push('a', 1)
    connection = profiler.accept()
    assert connection.recv(65536).count(b'\n\n') == _sender.SENDS_AT_ONCE
    clock.now += _sender.FLUSH_SECONDS
    metrics.push('a', 1)
    assert connection.recv(65536).count(b'\n\n') == 6


def test_shims_offer_the_same_class():
    from pywaggle.live_metrics import LiveMetrics as first
    from waggle.live_metrics import LiveMetrics as second
    assert first is LiveMetrics
    assert second is LiveMetrics
