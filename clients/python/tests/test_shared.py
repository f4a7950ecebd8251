# SPDX-License-Identifier: Apache-2.0
"""Through the memory of a profiler that is played here, byte by byte."""
import array
import fcntl
import json
import mmap
import os
import re
import socket
import struct
import threading

import pytest

from assay import METRIC_RATE, LiveMetrics, _sender, _shared, live_metrics

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'cpp', 'assay.hpp')
SEALS = 0x2 | 0x4 | 0x1   # against shrinking, growing and further seals


class Sharing(object):
    """The other end of one client, after it has asked for shared memory."""

    def __init__(self, profiler, flags=_shared.TIMERS_ARE_HISTOGRAMS):
        self.connection = profiler.accept()
        self.lines = b''
        self.fd = os.memfd_create('test', os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, _shared.BYTES)
        self.offer = struct.pack('=IIII', _shared.MAGIC, _shared.VERSION, _shared.BYTES, flags)
        self.memory = mmap.mmap(self.fd, _shared.BYTES)

    def answer(self, seals=SEALS):
        fcntl.fcntl(self.fd, 1033, seals)
        self.connection.sendmsg([self.offer], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [self.fd]))])

    def told(self):
        """All messages that have come."""
        self.connection.setblocking(False)
        try:
            while True:
                piece = self.connection.recv(65536)
                if not piece:
                    break
                self.lines += piece
        except BlockingIOError:
            pass
        return [json.loads(line) for line in self.lines.decode().split('\n') if line and line != '{}']

    def word(self, offset):
        return struct.unpack_from('=Q', self.memory, offset)[0]

    def events(self):
        head = self.word(_shared.FIRST_LANE + _shared.HEAD)
        found = []
        for position in range(head):
            at = _shared.FIRST_EVENT + position % _shared.EVENTS * _shared.EVENT_BYTES
            word, value, now = struct.unpack_from('=Qdd', self.memory, at)
            assert word >> 32 == position + 1
            found.append((word & 0xffffffff, value, now))
        return found

    def histogram(self, index):
        """{bucket: count}"""
        first = _shared.FIRST_BUCKET + index * _shared.BUCKETS * 4
        counts = struct.unpack_from('=%dI' % _shared.BUCKETS, self.memory, first)
        head = _shared.FIRST_HISTOGRAM + index * _shared.HISTOGRAM_BYTES
        used = {bucket: count for bucket, count in enumerate(counts) if count}
        groups = sum(1 << group for group in {bucket // _shared.GROUP_SIZE for bucket in used})
        assert self.word(head + _shared.GROUPS_IN_USE) == groups
        return used


def bucket_of(nanoseconds):
    return (struct.unpack('=I', struct.pack('=f', nanoseconds))[0] >> 17) - (127 << 6)


@pytest.fixture
def shared(profiler):
    metrics = LiveMetrics(profiler.path)
    metrics.push('first', 1)
    sharing = Sharing(profiler)
    sharing.answer()
    yield metrics, sharing
    metrics.close()


def test_the_layout_is_that_of_the_header():
    text = open(HEADER).read()
    text = text[text.index('namespace shared {'):text.index('}  // namespace shared')]
    values = {}
    for kind, name, expression in re.findall(r'^constexpr (\w+) k(\w+) = ([^;]+);', text, re.M):
        values['k' + name] = eval(expression, {}, values)
        constant = re.sub(r'(?<!^)(?=[A-Z])', '_', name).upper()
        assert getattr(_shared, constant) == values['k' + name], name
    assert len(values) > 20


def test_numbers_become_events(shared):
    metrics, sharing = shared
    metrics.push('n', 2)
    metrics.push('n', 2.5)
    metrics.counter('birds', 3)
    metrics.push('delay', 4, unit='ms')
    assert [event[:2] for event in sharing.events()] == [(0, 2), (0, 2.5), (1, 3)]
    told = sharing.told()
    assert {'n': {'kind': 'number', 'slot': 0}} in told
    assert {'birds': {'kind': 'counter', 'slot': 1}} in told
    assert [message for message in told if 'delay' in message][0]['delay']['value'] == 4, 'with a unit by message'
    assert metrics.dropped == 0


def test_the_app_is_named(shared, monkeypatch):
    monkeypatch.setenv('ASSAY_APP', 'birds')
    metrics, sharing = shared
    metrics.push('n', 1)
    assert {'birds': {'kind': 'app'}} in sharing.told()


def test_timers_are_counted_in_their_bucket(shared, monkeypatch):
    metrics, sharing = shared
    metrics.push('n', 1)
    times = iter([0, 10 ** 6, 10 ** 6, 3 * 10 ** 6, 3 * 10 ** 6, 10 ** 9])
    monkeypatch.setattr(live_metrics, '_now_ns', lambda: next(times, 10 ** 9))
    latency = metrics.timer_handle('latency')
    latency.stop(latency.start())
    with metrics.timer('latency'):
        pass
    metrics.start_timer('latency')
    metrics.stop_timer('latency')
    metrics.flush()
    counts = sharing.histogram(0)
    assert counts == {bucket_of(n): 1 for n in (10 ** 6, 2 * 10 ** 6, 997 * 10 ** 6)}
    assert {'latency': {'kind': 'timer', 'histogram': 0}} in sharing.told()


def test_durations_of_no_time_and_of_ages_have_a_bucket(shared):
    metrics, sharing = shared
    metrics.push('n', 1)
    metrics._sender.memory.add(3, [0, -5, 10 ** 18])
    assert sharing.histogram(3) == {0: 2, _shared.BUCKETS - 1: 1}
    metrics._sender.memory.add(4, [0])
    assert sharing.histogram(4) == {0: 1}


def test_a_run_gets_every_duration(profiler):
    metrics = LiveMetrics(profiler.path)
    metrics.push('first', 1)
    sharing = Sharing(profiler, flags=0)
    sharing.answer()
    metrics.push('n', 1)
    latency = metrics.timer_handle('latency')
    for _ in range(3):
        latency.stop(latency.start() - 10 ** 9)
    assert [int(value) for slot, value, _ in sharing.events() if slot == 1] == [1, 1, 1]
    metrics.close()


def test_a_full_ring_drops_and_counts(shared):
    metrics, sharing = shared
    for i in range(_shared.EVENTS + 10):
        metrics.push('n', i)
    assert len(sharing.events()) == _shared.EVENTS
    assert sharing.word(_shared.FIRST_LANE + _shared.DROPPED) == 10
    assert metrics.dropped == 10
    sharing.told()
    assert sharing.lines.endswith(b'}\n\n\n'), 'asked twice, when half full and when full'


def test_what_is_no_number_goes_the_old_way(shared):
    metrics, sharing = shared
    for bad in (float('nan'), 'x', True, 10 ** 400, None):
        metrics.push('n', bad)
    assert sharing.events() == []
    assert metrics.dropped == 5
    assert sum('n' in message for message in sharing.told()) == 5, 'for the run to count'
    metrics.timer_handle('t').stop(None)
    assert metrics.dropped == 6


def test_the_timer_of_a_rate_reports_a_rate(shared):
    metrics, sharing = shared
    metrics.add_metric('fps', METRIC_RATE)
    handle = metrics.timer_handle('fps')
    handle.stop(handle.start() - 2 * 10 ** 9)
    assert [round(value, 3) for _, value, _ in sharing.events()] == [0.5]
    assert {'fps': {'kind': 'rate', 'slot': 0}} in sharing.told()


@pytest.mark.parametrize('change', ['magic', 'seals', 'size', 'nothing'])
def test_an_offer_that_does_not_fit_is_left_alone(profiler, change):
    metrics = LiveMetrics(profiler.path)
    metrics.push('n', 1)
    sharing = Sharing(profiler)
    if change == 'magic':
        sharing.offer = b'x' * 16
    if change == 'size':
        os.ftruncate(sharing.fd, 4096)
    if change == 'nothing':
        sharing.connection.send(sharing.offer)
    else:
        sharing.answer(0 if change == 'seals' else SEALS)
    metrics.push('n', 2)
    metrics.close()
    assert [message['n']['value'] for message in sharing.told()] == [1, 2]


def test_a_profiler_that_dies_is_noticed_and_found_again(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.push('n', 1)
    first = Sharing(profiler)
    first.answer()
    metrics.push('n', 2)
    assert len(first.events()) == 1
    profiler.die()
    clock.now += _sender.LOOK_SECONDS
    metrics.push('n', 3)
    assert metrics.dropped == 1
    profiler.start()
    clock.now += 2
    metrics.push('n', 4)
    second = Sharing(profiler)
    second.answer()
    metrics.push('n', 5)
    assert [event[:2] for event in second.events()] == [(0, 5)]
    assert len(first.events()) == 1


def test_threads_lose_no_durations(shared):
    metrics, sharing = shared
    metrics.push('n', 1)
    latency = metrics.timer_handle('latency')

    def work():
        for _ in range(5000):
            latency.stop(latency.start())
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    metrics.flush()
    assert sum(sharing.histogram(0).values()) == 20000


def test_a_forked_child_leaves_its_parents_memory_alone(profiler, shared):
    metrics, sharing = shared
    metrics.push('n', 1)
    latency = metrics.timer_handle('latency')
    latency.stop(latency.start())
    latency.stop(latency.start())    # waits for company
    child = os.fork()
    if child == 0:
        metrics.push('n', 2)
        latency.stop(latency.start())
        metrics.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    metrics.flush()
    assert [value for _, value, _ in sharing.events()] == [1]
    assert sum(sharing.histogram(0).values()) == 2
    messages = profiler.read_all()
    assert [list(message) for message in messages] == [['n'], ['latency']], 'and speaks for itself'
