# SPDX-License-Identifier: Apache-2.0
"""The way to the profiler: a unix socket that never blocks and never raises."""
import collections
import errno
import os
import socket
import threading
import time
import weakref

FLUSH_SECONDS = 0.05     # values wait this long for company
HELD_SECONDS = 0.1       # after so long a thread sends what no later value has taken along
RETRY_SECONDS = 1.0      # between attempts to connect
CLOSE_SECONDS = 0.1      # the longest wait for another thread at the end
QUEUE_LIMIT = 10000      # messages that wait while the profiler is slow; further ones are dropped
BATCH = 500              # messages that are sent at once
ADDRESS_LIMIT = 107


class Sender(object):
    """Queues messages and sends them in batches. Safe for threads, forks and signal handlers: the
    queue needs no lock, and only one thread at a time sends while the others go on."""

    def __init__(self, path):
        self.path = path
        self.dropped = 0
        self.on_loss = lambda: None   # messages were made and will not arrive
        self.on_fork = lambda: None
        self._reset()
        _senders.add(self)

    def _reset(self):
        self._pid = os.getpid()
        self._queue = collections.deque()
        self._sending = threading.Lock()
        self._socket = None
        self._unsent = b''
        self._next_flush = 0.0
        self._next_attempt = 0.0
        self._held = None

    def __del__(self):
        self.end_thread()

    def begin(self):
        """Comes before everything else: returns time.monotonic(), and notices a fork."""
        if os.getpid() != self._pid:
            self._after_fork()
        return time.monotonic()

    def takes(self, now):
        """Whether a message would be queued; one that would not is counted here, unmade."""
        absent = self._socket is None and now < self._next_attempt
        if absent or len(self._queue) >= QUEUE_LIMIT:
            self.dropped += 1
            if now >= self._next_flush:
                self.flush(now)
            return False
        return True

    def put(self, message, now):
        """Queues one message (bytes), and sends if it is time."""
        self._queue.append(message)
        if now >= self._next_flush:
            self.flush(now)

    def flush(self, now):
        """Sends what the profiler takes at once."""
        if not self._sending.acquire(False):
            return
        try:
            self._next_flush = now + FLUSH_SECONDS
            if self._socket is not None or self._connect(now):
                self._send_all()
                self._watch_held()
        except Exception:  # whatever it is, it is not the app's trouble
            self._disconnect()
        finally:
            self._sending.release()

    def close(self):
        """Sends what can be sent and closes the connection; the next put opens a new one."""
        now = self.begin()
        # Another thread that is sending will be done in no time, for it never waits itself.
        if self._sending.acquire(True, CLOSE_SECONDS):
            self._sending.release()
        self.flush(now)
        if self._sending.acquire(False):
            try:
                self._disconnect()
                self._next_attempt = 0.0
            finally:
                self._sending.release()
        self.end_thread()

    def send_held(self):
        """Sends what no later value has taken along."""
        if self._queue or self._unsent:
            self.flush(time.monotonic())

    def end_thread(self):
        """Ends the thread for held values; the next sending makes a new one."""
        held, self._held = self._held, None
        if held is not None:
            held.end()

    def before_fork(self):
        # No fork in the middle of a sending, and none of a process that has threads only by us.
        if self._pid == os.getpid():
            self.send_held()
            self.end_thread()

    def _watch_held(self):
        # Within self._sending: a signal handler cannot come in between.
        held = self._held
        try:
            if held is None and _can_start_a_thread():
                held = self._held = _HeldValues(self)
        except RuntimeError:
            pass   # a thread that cannot be had is done without
        if held is not None:
            held.wake()

    def _after_fork(self):
        # The child gets its own connection; what is queued is the parent's to send.
        if self._socket is not None:
            self._socket.close()
        self._reset()
        self.on_fork()

    def _connect(self, now):
        if now < self._next_attempt:
            self._drop_queue()
            return False
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.setblocking(False)
            connect_to(connection, self.path)
        except Exception:
            connection.close()
            self._next_attempt = now + RETRY_SECONDS
            self._drop_queue()
            return False
        self._socket = connection
        return True

    def _send_all(self):
        while self._unsent or self._queue:
            if not self._unsent:
                count = min(len(self._queue), BATCH)
                self._unsent = b''.join([self._queue.popleft() for _ in range(count)])
            try:
                # Even an app that dies of SIGPIPE by choice must not die of ours.
                sent = self._socket.send(self._unsent, socket.MSG_NOSIGNAL)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno == errno.ENOBUFS:
                    return
                self._disconnect()
                return
            self._unsent = self._unsent[sent:]

    def _disconnect(self):
        if self._unsent:
            self.dropped += max(1, self._unsent.count(b'\n\n'))
        self._unsent = b''
        self._drop_queue()
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._next_attempt = time.monotonic() + RETRY_SECONDS

    def _drop_queue(self):
        self.dropped += len(self._queue)
        self._queue.clear()
        self.on_loss()


class _HeldValues(object):
    """A thread that sends what was held when nothing follows; it sleeps while nothing is reported. It
    is waited for when it ends: an interpreter that is being taken down must not meet it."""

    def __init__(self, sender):
        self._sender = weakref.ref(sender)
        self._woken = threading.Event()
        self._ending = threading.Event()
        self.thread = threading.Thread(target=self._run, name='assay')
        self.thread.daemon = True
        self.thread.start()

    def wake(self):
        self._woken.set()

    def end(self):
        self._ending.set()
        self._woken.set()
        if self.thread is not threading.current_thread():
            self.thread.join(CLOSE_SECONDS)

    def _run(self):
        # A value is held only for a moment after a sending, and every sending wakes.
        while self._woken.wait():
            self._woken.clear()
            if self._ending.wait(HELD_SECONDS):
                return
            sender = self._sender()
            if sender is None:
                return
            sender.send_held()
            del sender


def _can_start_a_thread():
    """Not in a signal handler that came while a thread was being started: it would wait forever."""
    lock = getattr(threading, '_active_limbo_lock', None)
    if lock is None:
        return True
    if getattr(lock, '_is_owned', bool)() or not lock.acquire(False):
        return False
    lock.release()
    return True


_senders = weakref.WeakSet()


def _before_fork():
    for sender in list(_senders):
        sender.before_fork()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(before=_before_fork)


def connect_to(connection, path):
    """Connects, also to a path that is too long for a socket address."""
    if len(os.fsencode(path)) <= ADDRESS_LIMIT:
        connection.connect(path)
        return
    folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY)
    try:
        connection.connect('/proc/self/fd/%d/%s' % (folder, os.path.basename(path)))
    finally:
        os.close(folder)
