# SPDX-License-Identifier: Apache-2.0
"""LiveMetrics: what an app tells about itself while it runs."""
import atexit
import functools
import json
import os
import threading
import time
import weakref

from . import _shared
from ._sender import Sender

DEFAULT_SOCKET = '/metrics/live_metrics.sock'

METRIC_TIMER = 0   # seconds that a piece of work took
METRIC_RATE = 1    # how often something happens, per second, averaged over a window
METRIC_NUMBER = 2  # any number

_COUNTER = 3       # a total that only grows, by counter()

_KIND_NAMES = {METRIC_TIMER: 'timer', METRIC_RATE: 'rate', METRIC_NUMBER: 'number', _COUNTER: 'counter'}
_INFINITY = float('inf')

FOLD_NANOSECONDS = 5000000   # durations wait so long to be counted together

_now_ns = getattr(time, 'perf_counter_ns', None) or (lambda: int(time.perf_counter() * 1e9))


class LiveMetrics(object):
    """Reports numbers of your app to the profiler that watches it.

        metrics = LiveMetrics()
        with metrics.timer('latency'):
            ...
        metrics.rate('fps')            # once per frame
        metrics.push('objects', 12)

    Nothing here blocks, raises or prints: without a profiler, or with one that is slow or dies, values
    are dropped and counted in `dropped`. Safe to use from many threads and after a fork.

    `metrics` may name kinds in advance, {'latency': METRIC_TIMER, 'fps': METRIC_RATE}: the timer of a
    METRIC_RATE then reports how often its work gets done per second. `socket_path` defaults to
    $ASSAY_SOCKET, else /metrics/live_metrics.sock. `window` is the seconds that rates are averaged over.
    """

    METRIC_TIMER = METRIC_TIMER
    METRIC_RATE = METRIC_RATE
    METRIC_NUMBER = METRIC_NUMBER

    def __init__(self, metrics=None, socket_path=None, window=1.0):
        if isinstance(metrics, (str, os.PathLike)):
            metrics, socket_path = None, metrics
        path = socket_path or os.environ.get('ASSAY_SOCKET') or DEFAULT_SOCKET
        self._sender = Sender(os.fspath(path))
        self._sender.on_loss = self._tell_kinds_again
        self._sender.on_fork = self._start_anew
        self._window = float(window) if _is_number(window) and window > 0 else 1.0
        self._kinds = {}
        self._heads = {}      # name -> how its next message begins
        self._handles = {}
        self._bad = 0
        self._start_anew()
        for name, kind in (metrics or {}).items():
            self.add_metric(name, kind)
        _close_at_exit(self)

    @property
    def dropped(self):
        """Values that could not be reported so far."""
        return self._sender.dropped + self._bad

    def add_metric(self, name, kind=METRIC_NUMBER):
        """Names a metric's kind in advance."""
        if isinstance(name, str) and kind in _KIND_NAMES:
            self._kinds[name] = kind
            self._heads.pop(name, None)
        else:
            self._bad += 1

    def push(self, name, value, unit=None):
        """Reports a number as it is; `unit` is any text, of which times and sizes ('ms', 'MiB') are understood."""
        self._report(name, value, self._sender.begin(), unit)

    push_metric = push

    def update(self, name, value=1):
        """Reports by the metric's kind: a rate counts `value` events, any other is pushed."""
        if isinstance(name, str) and self._kinds.get(name) == METRIC_RATE:
            self.rate(name, value)
        else:
            self.push(name, value)

    def start_timer(self, name):
        """Starts a timer; each thread has its own of that name."""
        if not isinstance(name, str):
            self._bad += 1
            return
        self._started.__dict__[name] = _now_ns()

    def stop_timer(self, name):
        """Reports the seconds since start_timer; without one it is a dropped value."""
        started = self._started.__dict__.pop(name, None) if isinstance(name, str) else None
        if started is None:
            self._bad += 1
            return
        self.timer_handle(name).stop(started)

    def timer(self, name):
        """`with metrics.timer('latency'):` or `@metrics.timer('latency')`. What it gives may be kept and
        used again and again, by one thread at a time and not within itself."""
        timer = _Timer()   # without a constructor of its own, which would cost as much again
        try:
            timer._handle = self._handles[name]
        except (KeyError, TypeError):
            timer._handle = self.timer_handle(name)
        return timer

    def timer_handle(self, name):
        """The fast way to time what is done often, in two calls:

            latency = metrics.timer_handle('latency')
            began = latency.start()
            ...
            latency.stop(began)
        """
        try:
            return self._handles[name]
        except KeyError:
            return self._handles.setdefault(name, TimerHandle(self, name))
        except TypeError:
            return TimerHandle(self, name)

    def rate(self, name, n=1):
        """Counts `n` events; reports events per second once per window."""
        if not _is_number(n) or not isinstance(name, str):
            self._bad += 1
            return
        now = self._sender.begin()
        self._kinds.setdefault(name, METRIC_RATE)
        with self._lock:
            rate = self._rates.get(name)
            if rate is None:
                # The first event opens the window: n events have n - 1 distances.
                self._rates[name] = [0, 0.0, now, False]
                return
            rate[0] += float(n)
            if now - rate[2] < self._window:
                return
            value = rate[0] / (now - rate[2])
            rate[:] = [0, 0.0, now, True]
        self._report(name, value, now)

    def counter(self, name, n=1):
        """Adds to a total and reports it."""
        if not _is_number(n) or not isinstance(name, str):
            self._bad += 1
            return
        now = self._sender.begin()
        self._kinds.setdefault(name, _COUNTER)
        with self._lock:
            total = self._totals.get(name, 0.0) + float(n)
            self._totals[name] = total
        self._report(name, total, now)

    def flush(self):
        """Sends now what still waits for company: of more than 32 values within 50 ms those after the first 32."""
        self._fold_all()
        self._sender.flush(self._sender.begin())

    def close(self):
        """Reports what rates have gathered and closes the connection. Called at the app's exit."""
        self._fold_all()
        now = self._sender.begin()
        with self._lock:
            rates, self._rates = self._rates, {}
        for name, (events, busy, since, reported) in rates.items():
            seconds = busy or now - since
            # A scrap of a window would be a noisy value beside whole ones.
            if events and seconds > 0 and (not reported or now - since >= self._window / 2):
                self._report(name, events / seconds, now)
        self._sender.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def _fold_all(self):
        for handle in list(self._handles.values()):
            handle.fold(_now_ns())

    def _take_durations(self, name, durations):
        """Reports nanoseconds that a timer measured; True when they were only counted."""
        now = self._sender.begin()
        if not isinstance(name, str):
            self._bad += len(durations)
            return False
        if self._kinds.setdefault(name, METRIC_TIMER) == METRIC_RATE:
            for duration in durations:
                self._work_done(name, duration / 1e9, now)
            return False
        memory = self._sender.memory
        if memory is not None and memory.timers_are_histograms:
            histogram = memory.histograms.get(name)
            if histogram is None and len(memory.histograms) < _shared.HISTOGRAMS:
                histogram = self._tell_number(name, 'histogram', memory.histograms, now)
            if histogram is not None:
                memory.add(histogram, durations)
                return True
        for duration in durations:
            self._report(name, duration / 1e9, now)
        return False

    def _work_done(self, name, seconds, now):
        with self._lock:
            rate = self._rates.setdefault(name, [0, 0.0, now - seconds, False])
            rate[0] += 1
            rate[1] += seconds
            if now - rate[2] < self._window:
                return
            value = rate[0] / rate[1] if rate[1] > 0 else _INFINITY
            rate[:] = [0, 0.0, now, True]
        self._report(name, value, now)

    def _tell_number(self, name, what, numbers, now):
        """Tells by which number a name goes in shared memory; None when that cannot be told."""
        if not name or len(name.encode('utf-8', 'replace')) > 128 or len(numbers) >= _shared.MOST_NAMES:
            return None
        kind = _KIND_NAMES[self._kinds.get(name, METRIC_NUMBER)]
        with self._lock:
            if name in numbers:
                return numbers[name]
            number = len(numbers)
            message = '{%s: {"kind": "%s", "%s": %d}}\n' % (json.dumps(name), kind, what, number)
            if not self._sender.tell(message.encode(), now):
                return None
            numbers[name] = number
        return number

    def _report_event(self, memory, name, value, now):
        """Through shared memory; False when the value has to go by a message."""
        if isinstance(value, (bool, str, bytes)):
            return False
        value = float(value)
        if not -_INFINITY < value < _INFINITY:
            return False
        slot = memory.slots.get(name)
        if slot is None:
            slot = self._tell_number(name, 'slot', memory.slots, now) if isinstance(name, str) else None
        taken = None if slot is None else memory.put(slot, value, time.time())
        if taken and memory.asks:
            self._sender.tell(b'\n', now)
        elif taken is False:
            self._sender.dropped += 1
        return taken is not None

    def _report(self, name, value, now, unit=None):
        memory = self._sender.memory
        try:
            if memory is not None and unit is None and self._report_event(memory, name, value, now):
                return
        except Exception:  # such as a number that is too large: the message will be refused as well
            pass
        if not self._sender.takes(now):
            return
        try:
            number = float(value)
            # bool and str would convert as well, and are mistakes.
            if not -_INFINITY < number < _INFINITY or isinstance(value, (bool, str, bytes)):
                raise ValueError(value)
            head = self._heads.get(name) or self._head(name)
            tail = b'' if unit is None else (', "unit": %s' % json.dumps(str(unit))).encode()
        except Exception:
            self._bad += 1
            self._tell_bad(name, now)
            return
        self._sender.put(b'%s%r, "timestamp": %.6f%s}}\n\n' % (head, number, time.time(), tail), now)

    def _head(self, name):
        """Begins a message; the first of each connection tells the kind as well."""
        quoted = json.dumps(name)
        if not isinstance(name, str) or not name:
            raise ValueError(name)
        plain = ('{%s: {"value": ' % quoted).encode()
        self._heads[name] = plain
        if name not in self._kinds:
            return plain
        kind = _KIND_NAMES[self._kinds[name]]
        return ('{%s: {"kind": "%s", "value": ' % (quoted, kind)).encode()

    def _tell_bad(self, name, now):
        """The profiler counts it among the losses of the run, where its user will look."""
        if isinstance(name, str) and 0 < len(name) <= 128:
            self._sender.put(('{%s: {"value": NaN}}\n\n' % json.dumps(name)).encode(), now)

    def _tell_kinds_again(self):
        self._heads.clear()

    def _start_anew(self):
        # Also in a forked child, where a lock may be held by a thread that does not exist there.
        self._lock = threading.RLock()
        self._started = threading.local()
        self._rates = {}   # name -> [events, seconds of work, since when, reported before]
        self._totals = {}
        self._heads.clear()
        for handle in list(self._handles.values()):
            handle.start_anew()


class TimerHandle(object):
    """One timer, looked up once. `stop` takes what `start` gave, and may be called from any thread."""

    __slots__ = ('start', '_metrics', '_name', '_waiting', '_due', '_folding')

    def __init__(self, metrics, name):
        self.start = _now_ns
        self._metrics = metrics
        self._name = name
        self.start_anew()

    def start_anew(self):
        self._waiting = []
        self._due = 0
        self._folding = threading.Lock()

    def stop(self, began):
        now = _now_ns()
        try:
            self._waiting.append(now - began)
        except TypeError:
            self._metrics._bad += 1
        if now >= self._due:
            self.fold(now)

    def fold(self, now):
        """Reports what waits. When another thread is at it, this one goes on: the other looks twice."""
        folding = self._folding
        for _ in range(2):
            if not self._waiting or not folding.acquire(False):
                return
            try:
                self._fold(now)
            except Exception:  # whatever it is, it is not the app's trouble
                self._metrics._bad += 1
            finally:
                folding.release()

    def _fold(self, now):
        durations = self._waiting[:]
        del self._waiting[:len(durations)]
        counted = self._metrics._take_durations(self._name, durations)
        self._due = now + FOLD_NANOSECONDS if counted else 0


class _Timer(object):
    __slots__ = ('_handle', '_began')

    def __enter__(self):
        self._began = _now_ns()
        return self

    def __exit__(self, kind, error, trace):
        # As the handle's stop() does, for a call less.
        now = _now_ns()
        handle = self._handle
        handle._waiting.append(now - self._began)
        if now >= handle._due:
            handle.fold(now)

    def __call__(self, function):
        @functools.wraps(function)
        def timed(*args, **kwargs):
            began = _now_ns()
            try:
                return function(*args, **kwargs)
            finally:
                self._handle.stop(began)
        return timed


def _is_number(value):
    try:
        return not isinstance(value, (bool, str, bytes)) and -_INFINITY < float(value) < _INFINITY
    except Exception:
        return False


def _close_at_exit(metrics):
    reference = weakref.ref(metrics)

    def close():
        alive = reference()
        if alive is not None:
            alive.close()
    atexit.register(close)
