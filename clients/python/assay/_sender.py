# SPDX-License-Identifier: Apache-2.0
"""The way to the profiler: a unix socket that never blocks and never raises."""
import collections
import errno
import json
import os
import socket
import sys
import threading
import time
import weakref

from . import _shared

FLUSH_SECONDS = 0.05
SENDS_AT_ONCE = 32       # in each FLUSH_SECONDS; further values wait for a later one
RETRY_SECONDS = 1.0      # between attempts to connect
CLOSE_SECONDS = 0.1      # the longest wait for another thread at the end
QUEUE_LIMIT = 10000      # messages that wait while the profiler is slow; further ones are dropped
BATCH = 500              # messages that are sent at once
ADDRESS_LIMIT = 107
LOOK_SECONDS = 1.0       # between looks whether the profiler lives
ANSWER_SECONDS = 0.05    # between looks for its answer
GREETING = b'{}\n\n'     # asks for shared memory; means nothing to a profiler that has none
_NEVER = float('inf')


class Sender(object):
    """Queues messages and sends them in batches. Safe for threads, forks and signal handlers: the
    queue needs no lock, and only one thread at a time sends while the others go on."""

    def __init__(self, path):
        self.path = path
        self.dropped = 0
        self.on_loss = lambda: None   # messages were made and will not arrive
        self.on_fork = lambda: None
        self._reset()
        _notice_forks(self)

    def _reset(self):
        self._pid = os.getpid()
        self._queue = collections.deque()
        self._sending = threading.Lock()
        self._socket = None
        self._unsent = b''
        self._next_flush = 0.0
        self._sends_left = 0
        self._next_attempt = 0.0
        self._next_look = _NEVER
        self.memory = None

    def begin(self):
        """Comes before everything else: returns time.monotonic(), notices a fork and the profiler's end."""
        if os.getpid() != self._pid:
            self._after_fork()
        now = time.monotonic()
        if now >= self._next_look:
            self._look(now)
        return now

    def tell(self, message, now):
        """Sends a message at once; False when that cannot be, or something before it still waits."""
        self.flush(now)
        if self._queue or self._unsent or not self._sending.acquire(False):
            return False
        try:
            sent = self._socket.send(message, socket.MSG_NOSIGNAL)
            self._unsent = message[sent:]
            return not self._unsent
        except Exception:
            return False
        finally:
            self._sending.release()

    def takes(self, now):
        """Whether a message would be queued; one that would not is counted here, unmade."""
        absent = self._socket is None and now < self._next_attempt
        if absent or len(self._queue) >= QUEUE_LIMIT:
            self.dropped += 1
            if now >= self._next_flush:
                self._next_flush = now + FLUSH_SECONDS
                self.flush(now)
            return False
        return True

    def put(self, message, now):
        """Queues one message (bytes). The first ones of each interval go at once, so that no thread is
        needed for a value that nothing follows; only an app that reports more has some travel together."""
        self._queue.append(message)
        if now >= self._next_flush:
            self._next_flush = now + FLUSH_SECONDS
            self._sends_left = SENDS_AT_ONCE
        if self._sends_left > 0:
            self._sends_left -= 1
            self.flush(now)

    def flush(self, now):
        """Sends what the profiler takes at once."""
        if not self._sending.acquire(False):
            return
        try:
            if self._socket is not None or self._connect(now):
                self._send_all()
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

    def _look(self, now):
        if not self._sending.acquire(False):
            return
        try:
            self._next_look = now + (ANSWER_SECONDS if self.memory is None else LOOK_SECONDS)
            answer = _shared.receive(self._socket)
            if answer == b'':
                self._disconnect()
            elif answer is not None and self.memory is None:
                self._queue.append(('{%s: {"kind": "app"}}\n' % json.dumps(_app_name())).encode())
                self._next_look = now + LOOK_SECONDS
                self.memory = answer
        except (BlockingIOError, InterruptedError):
            pass
        except Exception:
            self._disconnect()
        finally:
            self._sending.release()

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
            connection.send(GREETING, socket.MSG_NOSIGNAL)
        except Exception:
            connection.close()
            self._next_attempt = now + RETRY_SECONDS
            self._drop_queue()
            return False
        self._socket = connection
        self._next_look = now
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
        self.memory = None
        self._next_look = _NEVER
        self._next_attempt = time.monotonic() + RETRY_SECONDS

    def _drop_queue(self):
        self.dropped += len(self._queue)
        self._queue.clear()
        self.on_loss()


def _app_name():
    name = os.environ.get('ASSAY_APP') or os.path.basename(sys.argv[0] if sys.argv else '')
    return name.encode('utf-8', 'replace')[:128].decode('utf-8', 'ignore') or 'python'


def _notice_forks(sender):
    """At once where Python can tell (3.7), else when the child next comes to begin()."""
    if not hasattr(os, 'register_at_fork'):
        return
    reference = weakref.ref(sender)

    def after_fork():
        alive = reference()
        if alive is not None:
            alive._after_fork()
    os.register_at_fork(after_in_child=after_fork)


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
