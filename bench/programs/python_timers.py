# SPDX-License-Identifier: Apache-2.0
"""Start and stop of a timer in Python, ours beside prometheus_client's, in turns of one run.

    python_timers.py SHARING LINES ROUNDS

SHARING and LINES are sockets of profilers with and without shared memory. Prints the nanoseconds a pair
took in each round, by way.
"""
import importlib.metadata
import json
import sys
import time

import prometheus_client

from assay import LiveMetrics

CALLS = 20000
JSON_CALLS = 2000   # fewer than the client's queue holds


def prometheus(histogram):
    for _ in range(CALLS):
        with histogram.time():
            pass


def handle(timer):
    for _ in range(CALLS):
        began = timer.start()
        timer.stop(began)


def kept(timer):
    for _ in range(CALLS):
        with timer:
            pass


def scope(metrics, calls):
    for _ in range(calls):
        with metrics.timer('scope'):
            pass


def cost(way, *arguments, calls=CALLS):
    began = time.perf_counter()
    way(*arguments)
    return (time.perf_counter() - began) / calls * 1e9


def main():
    sharing, lines, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    metrics, old = LiveMetrics(sharing), LiveMetrics(lines)
    while metrics._sender.memory is None:
        metrics.push('waiting', 1)
    # A timer for each way, so that each pays for what it counts later.
    timer, keep = metrics.timer_handle('latency'), metrics.timer('kept')
    histogram = prometheus_client.Histogram('latency', 'of nothing')
    found = {'prometheus': [], 'handle': [], 'kept': [], 'with': [], 'lines': []}
    for _ in range(rounds):
        found['prometheus'].append(cost(prometheus, histogram))
        found['handle'].append(cost(handle, timer))
        found['kept'].append(cost(kept, keep))
        found['with'].append(cost(scope, metrics, CALLS))
        found['lines'].append(cost(scope, old, JSON_CALLS, calls=JSON_CALLS))
    metrics.close()
    old.close()
    found['dropped'] = metrics.dropped
    found['dropped_lines'] = old.dropped
    found['version'] = importlib.metadata.version('prometheus_client')
    print(json.dumps(found))


if __name__ == '__main__':
    main()
