# SPDX-License-Identifier: Apache-2.0
"""The memory that a profiler shares with an app; clients/cpp/assay.hpp describes it."""
import array
import collections
import fcntl
import mmap
import os
import socket
import struct
import sys
import threading

MAGIC = 0x59415341
VERSION = 1
LANES = 8
EVENTS = 1024
EVENT_BYTES = 24
HISTOGRAMS = 64
GROUPS = 44
GROUP_SIZE = 64
BUCKETS = GROUPS * GROUP_SIZE
LANES_IN_USE = 0
FIRST_LANE = 64
LANE_BYTES = 128
HEAD = 0
DROPPED = 8
TAIL = 64
FIRST_HISTOGRAM = FIRST_LANE + LANES * LANE_BYTES
HISTOGRAM_BYTES = 64
GROUPS_IN_USE = 8
FIRST_EVENT = 8192
FIRST_BUCKET = FIRST_EVENT + LANES * EVENTS * EVENT_BYTES
BYTES = FIRST_BUCKET + HISTOGRAMS * BUCKETS * 4
TIMERS_ARE_HISTOGRAMS = 1
MOST_NAMES = 1000   # as many as the profiler takes

_OFFER = struct.Struct('=IIII')
_EVENT = struct.Struct('=Qdd')
_GET_SEALS = 1034
_SEAL_SHRINK = 2
_UPPER_HALF = 1 if sys.byteorder == 'little' else 0
_ONE_NANOSECOND = 127 << 6   # the bucket of a float's leading bits that comes first


def receive(connection):
    """What has come on the socket: a Memory, None when it is something else, b'' at its end."""
    data, extra, _, _ = connection.recvmsg(_OFFER.size, socket.CMSG_SPACE(4))
    descriptors = array.array('i')
    for level, kind, content in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[:len(content) - len(content) % descriptors.itemsize])
    try:
        if not data:
            return b''
        return _accept(data, descriptors[0]) if len(descriptors) == 1 else None
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _accept(data, descriptor):
    magic, version, size, flags = _OFFER.unpack(data)
    # Only what nobody can cut short any more: touching a missing page would end the app.
    fits = (magic, version, size) == (MAGIC, VERSION, BYTES) and os.fstat(descriptor).st_size == BYTES
    if fits and fcntl.fcntl(descriptor, _GET_SEALS) & _SEAL_SHRINK:
        return Memory(mmap.mmap(descriptor, BYTES), flags)
    return None


class Memory(object):
    """An app's end of one profiler's memory. Python writes into the first lane alone."""

    def __init__(self, memory, flags=0):
        self._bytes = memory
        self._words = memoryview(memory).cast('Q')
        self._counts = memoryview(memory).cast('I')
        self._lock = threading.Lock()
        self.timers_are_histograms = bool(flags & TIMERS_ARE_HISTOGRAMS)
        self.slots = {}        # name -> number that the profiler was told
        self.histograms = {}
        self.asks = False      # whether the profiler should be asked to read, after a put

    def put(self, slot, value, now):
        """True when the event is there, False when the ring is full; None when another thread is just
        writing."""
        if not self._lock.acquire(False):
            return None
        try:
            words = self._words
            head = words[(FIRST_LANE + HEAD) // 8]
            waiting = head - words[(FIRST_LANE + TAIL) // 8]
            words[LANES_IN_USE // 8] |= 1
            if waiting >= EVENTS:
                words[(FIRST_LANE + DROPPED) // 8] += 1
                return False
            head += 1
            _EVENT.pack_into(self._bytes, FIRST_EVENT + (head - 1) % EVENTS * EVENT_BYTES,
                             (head & 0xffffffff) << 32 | slot, value, now)
            words[(FIRST_LANE + HEAD) // 8] = head
            self.asks = head % (EVENTS // 2) == 0 and waiting + 1 >= EVENTS // 2
            return True
        finally:
            self._lock.release()

    def add(self, histogram, durations):
        """Counts durations in nanoseconds; one caller at a time for each histogram."""
        # Many are equal, so that most of the work is left to do for a few.
        lengths = collections.Counter(durations)
        if min(lengths) < 0:   # began in the future: the app's mistake
            lengths = collections.Counter(max(duration, 0) for duration in durations)
        halves = memoryview(array.array('f', lengths)).cast('B').cast('H')[_UPPER_HALF::2].tolist()
        first = FIRST_BUCKET // 4 + histogram * BUCKETS
        counts = self._counts
        groups = 0
        for half, count in zip(halves, lengths.values()):
            bucket = min(max((half >> 1) - _ONE_NANOSECOND, 0), BUCKETS - 1)
            groups |= 1 << bucket // GROUP_SIZE
            counts[first + bucket] = (counts[first + bucket] + count) & 0xffffffff
        head = (FIRST_HISTOGRAM + histogram * HISTOGRAM_BYTES) // 8
        self._words[head + GROUPS_IN_USE // 8] |= groups
