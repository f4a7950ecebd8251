# SPDX-License-Identifier: Apache-2.0
import os
import threading

import pytest

from assay import METRIC_NUMBER, METRIC_RATE, METRIC_TIMER, LiveMetrics, _sender


def test_push_sends_the_form_that_the_profiler_reads(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.push('fps', 12.5)
    metrics.close()
    assert profiler.read_all() == [{'fps': {'value': 12.5, 'timestamp': 1700001000.0}}]
    assert metrics.dropped == 0


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
    metrics.close()
    messages = profiler.read_all()
    assert [m['latency']['value'] for m in messages] == [0.25, 0.5, 1, 2]
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
    assert profiler.values('good') == [1]
    assert metrics.dropped == 3 * len(bad) + 5 + 2 * 7 + 2


def test_names_are_quoted(profiler):
    name = 'd\u00e9bit "x"\\\n'
    with LiveMetrics(profiler.path) as metrics:
        metrics.push(name, 1)
    assert profiler.values(name) == [1]


def test_values_that_come_fast_travel_together(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.push('a', 0)
    connection = profiler.accept()
    assert connection.recv(65536).count(b'\n\n') == 1, 'the first goes at once'
    for i in range(10):
        metrics.push('a', i)
    connection.setblocking(False)
    with pytest.raises(BlockingIOError):
        connection.recv(1)
    clock.now += 0.051
    metrics.push('a', 10)
    assert connection.recv(65536).count(b'\n\n') == 11


def receive(connection, count):
    data = b''
    while data.count(b'\n\n') < count:
        data += connection.recv(65536)   # fails when nothing comes for long
    return data


def test_a_held_value_arrives_though_nothing_follows(profiler):
    metrics = LiveMetrics(profiler.path)
    metrics.push('a', 1)
    metrics.push('a', 2)
    connection = profiler.accept()
    receive(connection, 2)
    metrics.push('a', 3)
    metrics.push('a', 4)
    receive(connection, 2)
    thread = metrics._sender._held.thread
    metrics.close()
    thread.join(10)
    assert not thread.is_alive(), 'it ends with the connection'


def test_a_held_value_of_a_forked_child_arrives_too(profiler):
    metrics = LiveMetrics(profiler.path)
    metrics.push('parent', 1)
    connection = profiler.accept()
    receive(connection, 1)
    go_on, tell = os.pipe()
    child = os.fork()
    if child == 0:
        metrics.push('child', 1)
        metrics.push('child', 2)
        os.read(go_on, 1)
        os._exit(0)
    try:
        assert receive(profiler.accept(), 2).count(b'child') == 2
        metrics.push('parent', 2)
        metrics.push('parent', 3)
        assert receive(connection, 2).count(b'parent') == 2, 'and those of its parent still do'
    finally:
        os.write(tell, b'x')
        os.waitpid(child, 0)


def test_a_fork_finds_no_thread_of_ours(profiler, monkeypatch):
    monkeypatch.setattr(_sender, 'CLOSE_SECONDS', 10)  # a busy machine may be slow to end it
    metrics = LiveMetrics(profiler.path)
    metrics.push('a', 1)
    thread = metrics._sender._held.thread
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert not thread.is_alive()
    assert os.waitpid(child, 0)[1] == 0


def test_without_a_profiler_there_is_no_thread(tmp_path):
    metrics = LiveMetrics(str(tmp_path / 'none'))
    metrics.push('a', 1)
    metrics.push('a', 1)
    assert metrics._sender._held is None


def test_shims_offer_the_same_class():
    from pywaggle.live_metrics import LiveMetrics as first
    from waggle.live_metrics import LiveMetrics as second
    assert first is LiveMetrics
    assert second is LiveMetrics
