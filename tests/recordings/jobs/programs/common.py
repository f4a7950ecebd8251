# SPDX-License-Identifier: Apache-2.0
"""What the programs share: options, a clock, data made once, an HTTP server, a typing human."""
import argparse
import http.server
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import traceback

SMOKE = bool(os.environ.get("JOB_SMOKE"))
CORES = int(os.environ.get("JOB_CORES", "2"))


def few(number):
    """A size, made ten times smaller for a smoke test."""
    return number // 10 if SMOKE else number


def arguments(**options):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--dir", default=".")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--source", default="")
    parser.add_argument("--setup", action="store_true", help="only make the input data")
    for name, value in options.items():
        parser.add_argument("--" + name, type=type(value), default=value)
    return parser.parse_args()


class Clock:
    """Counts from its making; never past JOB_END (seconds since 1970) that the recorder gives."""

    def __init__(self, seconds):
        limit = float(os.environ.get("JOB_END", "inf")) - time.time()
        self.end = time.monotonic() + min(seconds, limit)

    def left(self):
        return max(0.0, self.end - time.monotonic())

    def running(self):
        return self.left() > 0


def cold(folder, sync=False):
    """Drops a folder's files from the page cache, so that reading them again reads the disk."""
    if sync:
        os.sync()
    for place, _, names in os.walk(folder):
        for name in names:
            handle = os.open(os.path.join(place, name), os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)


def prepared(args, make):
    """The folder of input data, made by make(folder) if the recorder has not done so before."""
    data = os.path.join(args.dir, "data")
    if not os.path.exists(data + ".ready"):
        shutil.rmtree(data, ignore_errors=True)
        os.makedirs(data)
        make(data)
        if not SMOKE:
            cold(data, sync=True)
        open(data + ".ready", "w").close()
    if args.setup:
        sys.exit(0)
    return data


def output(args, name="out"):
    """An empty folder for results."""
    folder = os.path.join(args.dir, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def serve(port, answer, clock):
    """Answers POST requests with answer(body bytes) -> bytes until the clock ends."""
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            code = 200
            try:
                with lock:
                    reply = answer(body)
            except Exception:
                traceback.print_exc()
                code, reply = 500, traceback.format_exc().encode()
            try:
                self.send_response(code)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)
            except OSError:
                pass

        def log_message(self, *unused):
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

        def handle_error(self, *unused):
            pass

    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep(clock.left())
    server.shutdown()
    lock.acquire(timeout=5)  # lets the answer under way end; then no thread may be left in a library
    os._exit(0)


def think(chance, median=7.0, spread=0.7):
    """A human's pause: log-normal, 2 to 25 s."""
    pause = min(25.0, max(2.0, chance.lognormvariate(0, spread) * median))
    return pause * (0.01 if SMOKE else 1)


def human(args, command, cells, wrap, folder, seed, median=7.0):
    """Types the cells into a real interpreter, with pauses; ends with the clock."""
    chance, clock = random.Random(seed), Clock(args.seconds)
    errors = open(os.path.join(folder, "stderr.txt"), "w+")
    shell = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=errors, text=True, bufsize=1)
    typed = 0
    while clock.running() or (SMOKE and typed < len(cells)):
        if SMOKE and typed >= len(cells):
            break
        cell = cells[typed] if typed < len(cells) else chance.choice(cells[1:])
        try:
            shell.stdin.write(wrap(cell))
            shell.stdin.flush()
        except OSError:
            break
        for line in shell.stdout:
            if "<<done>>" in line:
                break
        if shell.poll() is not None:
            break
        typed += 1
        time.sleep(min(think(chance, median), clock.left() if not SMOKE else 1))
    try:
        shell.stdin.close()
        shell.wait(timeout=3)
    except (OSError, subprocess.TimeoutExpired):
        shell.kill()
        shell.wait()
    errors.seek(0)
    said = errors.read()
    if "Traceback" in said or "command not found" in said:
        print(said[-1500:], file=sys.stderr)
        sys.exit(3)
    if typed < 2:
        print("the interpreter ended early:", said[-500:], file=sys.stderr)
        sys.exit(4)


def python_session(args, cells, folder, seed, median=7.0):
    def wrap(cell):
        return "exec(%r)\nprint('<<done>>', flush=True)\n" % cell
    human(args, [sys.executable, "-i", "-q", "-u"], cells, wrap, folder, seed, median)


def bash_session(args, cells, folder, seed, median=7.0):
    def wrap(cell):
        return cell + "\necho '<<done>>'\n"
    human(args, ["bash"], cells, wrap, folder, seed, median)
