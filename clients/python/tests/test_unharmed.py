# SPDX-License-Identifier: Apache-2.0
"""Whatever becomes of the profiler, the app goes on."""
import os
import signal
import subprocess
import sys
import threading

from assay import LiveMetrics
from assay import _sender

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def test_no_profiler_is_no_trouble(tmp_path):
    metrics = LiveMetrics(str(tmp_path / 'none'))
    for i in range(100):
        metrics.push('a', i)
    metrics.close()
    assert metrics.dropped == 100


def test_a_path_that_cannot_be_is_no_trouble(tmp_path):
    (tmp_path / 'plain').write_text('x')
    for path in (str(tmp_path / 'plain'), str(tmp_path / 'plain' / 's'), 'x' * 5000, 'nul\0', '/'):
        metrics = LiveMetrics(path)
        metrics.push('a', 1)
        metrics.close()
        assert metrics.dropped == 1, path


def test_an_absent_profiler_is_looked_for_once_a_second(tmp_path, clock, monkeypatch):
    attempts = []
    monkeypatch.setattr(_sender, 'connect_to', lambda *_: attempts.append(1) or 1 / 0)
    metrics = LiveMetrics(str(tmp_path / 'none'))
    for i in range(30):
        metrics.push('a', i)
        clock.now += 0.1
    assert len(attempts) == 3
    assert metrics.dropped == 30


def test_a_profiler_that_dies_is_found_again(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    with metrics.timer('t'):
        pass
    profiler.accept()
    profiler.die()
    for _ in range(10):
        clock.now += 1
        with metrics.timer('t'):
            pass
    assert metrics.dropped > 0
    profiler.start()
    clock.now += 2
    with metrics.timer('t'):
        pass
    metrics.close()
    assert profiler.read_all()[0]['t']['kind'] == 'timer', 'a new profiler is told anew'


def test_a_profiler_that_never_reads_costs_a_bounded_queue(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    for i in range(50000):
        metrics.push('a', i)
        clock.now += 0.001
    queue = metrics._sender._queue
    assert len(queue) <= _sender.QUEUE_LIMIT
    assert metrics.dropped > 50000 - _sender.QUEUE_LIMIT - 20000
    connection = profiler.accept()
    data = b''
    while data.count(b'\n\n') + metrics.dropped < 50000:
        data += connection.recv(1 << 20)
        clock.now += 1
        metrics.flush()
    assert data.endswith(b'\n\n'), 'what was cut by a full socket is made whole'
    assert data.count(b'\n\n') + metrics.dropped == 50000, 'every value arrived or was counted'


def test_threads_lose_nothing(profiler):
    metrics = LiveMetrics(profiler.path)
    received = []
    reader = threading.Thread(target=lambda: received.extend(profiler.values('a')))
    reader.start()
    workers = [threading.Thread(target=lambda: [metrics.push('a', i) for i in range(500)])
               for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    metrics.close()
    reader.join()
    assert len(received) + metrics.dropped == 2000
    assert metrics.dropped == 0


def test_a_forked_child_has_its_own_connection(profiler, clock):
    metrics = LiveMetrics(profiler.path)
    metrics.push('parent', 1)
    metrics.push('parent', 2)   # waits for company
    metrics._lock.acquire()     # as a thread that does not exist in the child would hold it
    metrics._sender._sending.acquire()
    child = os.fork()
    if child == 0:
        metrics.counter('child', 3)
        metrics.close()
        os._exit(0)
    metrics._lock.release()
    metrics._sender._sending.release()
    assert os.waitpid(child, 0)[1] == 0
    metrics.close()
    messages = profiler.read_all(), profiler.read_all()
    assert [list(m) for m in messages[0]] == [['parent'], ['parent']]
    assert [list(m) for m in messages[1]] == [['child']]


def test_a_signal_handler_may_report_too(profiler):
    metrics = LiveMetrics(profiler.path)
    old = signal.signal(signal.SIGUSR1, lambda *_: metrics.rate('a'))
    try:
        with metrics._lock:
            os.kill(os.getpid(), signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, old)
    metrics.close()


def test_an_app_that_dies_of_sigpipe_does_not_die_of_us(profiler):
    script = ('import signal, sys, assay\n'
              'signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n'
              'm = assay.LiveMetrics(sys.argv[1])\n'
              'm.push("a", 1); print("ready", flush=True); sys.stdin.readline()\n'
              'for i in range(3): m.push("a", 1); m.flush()\n'
              'print("alive")\n')
    app = subprocess.Popen([sys.executable, '-c', script, profiler.path], env=dict(os.environ, PYTHONPATH=ROOT),
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)
    assert app.stdout.readline() == 'ready\n'
    profiler.accept()
    profiler.die()
    out, _ = app.communicate('go\n', timeout=30)
    assert out == 'alive\n'
    assert app.returncode == 0


def test_the_last_values_are_sent_at_exit(profiler):
    script = ('import sys, assay\n'
              'm = assay.LiveMetrics(sys.argv[1])\n'
              'for i in range(5): m.push("a", i)\n')
    subprocess.check_call([sys.executable, '-c', script, profiler.path],
                          env=dict(os.environ, PYTHONPATH=ROOT))
    assert profiler.values('a') == [0, 1, 2, 3, 4]


def test_paths_longer_than_an_address_are_reached(tmp_path):
    from conftest import Profiler
    folder = tmp_path / ('x' * 100)
    folder.mkdir()
    here = os.getcwd()
    os.chdir(str(folder))
    try:
        profiler = Profiler('s')
    finally:
        os.chdir(here)
    with LiveMetrics(str(folder / 's')) as metrics:
        metrics.push('a', 1)
    assert profiler.values('a') == [1]
