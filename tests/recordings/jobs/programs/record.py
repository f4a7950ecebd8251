# SPDX-License-Identifier: Apache-2.0
"""Runs labelled jobs in waves and records each one's resource series once a second. See the README.md above."""
import argparse
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

import net

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"T": "training", "I": "inference", "X": "interactive", "P": "preparation"}
# kind, program, variant: (options, cores, uses the GPU, request pattern, rate, request bytes).
# pattern "" with a rate: the recorder serves the job's data folder at that many MB/s (--source).
JOBS = {
    "T train_cnn small": ("--width 32 --batch 64", 2, True, "", 0, 0),
    "T train_cnn large": ("--width 128 --batch 512 --images 40000", 3, True, "", 0, 0),
    "T train_lstm gpu": ("--hidden 256", 1, True, "", 0, 0),
    "T train_lstm cpu": ("--device cpu --hidden 64 --batch 64 --steps 60", 2, False, "", 0, 0),
    "T train_lm small": ("--layers 4 --embed 256", 1, True, "", 0, 0),
    "T train_lm large": ("--layers 12 --embed 768 --batch 48 --length 256 --accumulate 2", 2, True, "", 0, 0),
    "T train_tabular wide": ("--hidden 512", 3, False, "", 0, 0),
    "T train_boost plain": ("", 3, False, "", 0, 0),
    "T train_forest plain": ("", 2, False, "", 0, 0),
    "T train_sgd stream": ("", 1, False, "", 0, 0),
    "T train_jax cpu": ("", 2, False, "", 0, 0),
    "T train_cupy plain": ("", 1, True, "", 0, 0),
    "T train_unet files": ("--workers 2", 3, True, "", 0, 0),
    "T train_dqn cpu": ("--device cpu --poles 64", 1, False, "", 0, 0),
    "T train_stream net": ("", 1, True, "", 25, 0),
    "I serve_cnn poisson": ("--model resnet18", 1, True, "poisson", 12, 150528),
    "I serve_cnn bursty": ("--model resnet50 --views 8", 1, True, "bursty", 15, 150528),
    "I serve_generate sine": ("--tokens 48", 1, True, "sine", 1.5, 120),
    "I serve_generate closed": ("--layers 12 --embed 768 --tokens 64", 1, True, "closed", 2, 80),
    "I serve_onnx poisson": ("", 2, False, "poisson", 8, 196608),
    "I serve_onnx bursty": ("--width 96", 2, False, "bursty", 12, 196608),
    "I serve_dnn sine": ("", 2, False, "sine", 10, 60000),
    "I serve_forest bursty": ("", 1, False, "bursty", 12, 2048),
    "I serve_recommend closed": ("", 1, False, "closed", 2, 256),
    "I serve_recommend poisson": ("--items 800000", 1, False, "poisson", 3, 256),
    "I infer_camera gpu": ("--fps 25", 1, True, "", 0, 0),
    "I infer_camera cpu": ("--device cpu --fps 5 --model resnet18 --size 224", 2, False, "", 0, 0),
    "I infer_folder gpu": ("", 2, True, "", 0, 0),
    "I infer_folder cpu": ("--device cpu --batch 16 --model mobilenet_v3_small --readers 1", 2, False, "", 0, 0),
    "I infer_embed plain": ("", 1, True, "", 0, 0),
    "X session_pandas small": ("--rows 200000 --seed 11", 1, False, "", 0, 0),
    "X session_pandas big": ("--rows 1500000 --seed 12 --median 5", 2, False, "", 0, 0),
    "X session_torch short": ("--seed 21", 1, True, "", 0, 0),
    "X session_torch long": ("--width 2048 --seed 22 --tries 6 --median 9", 1, True, "", 0, 0),
    "X session_sql small": ("--seed 31", 1, False, "", 0, 0),
    "X session_sql big": ("--rows 1200000 --seed 32 --median 4", 1, False, "", 0, 0),
    "X session_cupy plain": ("--seed 41", 1, True, "", 0, 0),
    "X session_images small": ("--width 2000 --seed 51", 1, False, "", 0, 0),
    "X session_images big": ("--width 5000 --seed 52 --median 6", 1, False, "", 0, 0),
    "X session_shell small": ("--seed 61", 1, False, "", 0, 0),
    "X session_shell big": ("--lines 3000000 --seed 62 --median 5", 1, False, "", 0, 0),
    "X session_compile plain": ("--seed 71", 1, False, "", 0, 0),
    "X session_numpy plain": ("--seed 81", 1, False, "", 0, 0),
    "X notebook science": ("", 2, False, "human", 0, 0),
    "X notebook vision": ("--kind vision", 1, True, "human", 0, 0),
    "P prep_images workers": ("--workers 3", 3, False, "", 0, 0),
    "P prep_csv plain": ("", 1, False, "", 0, 0),
    "P prep_compress gzip": ("", 1, False, "", 0, 0),
    "P prep_compress xz": ("--method xz --level 2", 1, False, "", 0, 0),
    "P prep_sort plain": ("", 2, False, "", 0, 0),
    "P prep_audio plain": ("", 1, False, "", 0, 0),
    "P prep_tokens plain": ("", 1, False, "", 0, 0),
    "P prep_sqlite plain": ("", 1, False, "", 0, 0),
    "P prep_shards plain": ("", 1, False, "", 0, 0),
    "P prep_video plain": ("", 2, False, "", 0, 0),
    "P prep_gpu_images torch": ("", 1, True, "", 0, 0),
    "P prep_gpu_images cupy": ("--library cupy --repeats 2", 1, True, "", 0, 0),
    "P prep_gpu_features plain": ("", 1, True, "", 0, 0),
    "P prep_download net": ("", 1, False, "", 6, 0),
    "P prep_dedup plain": ("", 1, False, "", 0, 0),
    "P prep_convert plain": ("--parallel 2", 2, False, "", 0, 0),
    # Recorded on a small machine without a GPU; these need only numpy, OpenCV, ffmpeg and sqlite3.
    **{name + " small": ("", 1, False, "", 0, 0) for name in (
        "T train_mlp", "T train_words", "T train_factor", "T train_svm", "I infer_text", "I infer_table",
        "I infer_video", "I infer_audio", "I infer_sensor", "X session_opencv", "X session_media", "P prep_render",
        "P prep_simulate", "P prep_frames", "P prep_json", "T train_policy", "T train_mixture", "T train_conv",
        "I infer_people", "I infer_logs", "I infer_pages", "P prep_windows", "X session_trees", "T train_boosted",
        "T train_tagger", "I infer_forecast", "I infer_search", "P prep_mosaic", "X session_signals")},
}
WAVES = [
    ["T train_lm small", "T train_boost plain", "I serve_generate sine", "I serve_dnn sine",
     "X session_sql big", "P prep_gpu_images torch", "P prep_csv plain"],
    ["T train_lstm gpu", "T train_jax cpu", "I infer_camera gpu", "I serve_recommend closed",
     "X notebook vision", "X session_images big", "P prep_images workers", "P prep_compress gzip"],
    ["T train_cnn large", "I serve_cnn bursty", "I serve_recommend poisson", "X session_pandas big",
     "X notebook science", "P prep_gpu_features plain", "P prep_sort plain"],
    ["T train_stream net", "T train_lstm cpu", "I infer_embed plain", "I serve_onnx bursty",
     "X session_sql small", "X session_pandas small", "P prep_gpu_images cupy", "P prep_compress xz"],
    ["T train_unet files", "T train_forest plain", "I serve_onnx poisson", "X session_torch long",
     "X session_images small", "P prep_audio plain", "P prep_sqlite plain"],
    ["T train_cnn small", "T train_cupy plain", "I infer_folder cpu", "I serve_forest bursty",
     "X session_torch short", "X session_shell small", "P prep_convert plain", "P prep_tokens plain"],
    ["T train_lm large", "T train_dqn cpu", "I serve_cnn poisson", "I infer_camera cpu",
     "X session_numpy plain", "X session_shell big", "P prep_dedup plain", "P prep_video plain"],
    ["T train_sgd stream", "T train_tabular wide", "I serve_generate closed", "I infer_folder gpu",
     "X session_cupy plain", "X session_compile plain", "P prep_shards plain", "P prep_download net"],
    ["T train_mlp small", "X session_opencv small"], ["I infer_text small", "I infer_sensor small"],
    ["P prep_render small", "X session_media small"], ["T train_words small"], ["I infer_table small"],
    ["P prep_simulate small"], ["T train_factor small"], ["I infer_video small"], ["P prep_frames small"],
    ["T train_svm small"], ["I infer_audio small"], ["P prep_json small"],
    ["T train_policy small", "X session_trees small"], ["I infer_people small"], ["T train_mixture small"],
    ["I infer_logs small"], ["P prep_windows small"], ["T train_conv small"], ["I infer_pages small"],
    ["T train_boosted small", "X session_signals small"], ["I infer_forecast small"], ["P prep_mosaic small"],
    ["T train_tagger small"], ["I infer_search small"],
]
COLUMNS = ["time", "cpu_cores", "memory_bytes", "disk_read_bytes_per_second", "disk_write_bytes_per_second",
           "network_receive_bytes_per_second", "network_transmit_bytes_per_second",
           "gpu_utilization_ratio", "gpu_memory_bytes"]
TICK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def means(rows, count):
    """Of so many rows each, with the time of the last of them."""
    whole = [rows[end - count:end] for end in range(count, len(rows) + 1, count)]
    return [[part[-1][0]] + [None if None in column else sum(column) / count for column in list(zip(*part))[1:]] for part in whole]


def text(value):
    """At most five significant digits, without an exponent for large numbers; empty when unknown."""
    if value is None:
        return ""
    short = float("%.5g" % value)
    return str(int(short)) if abs(short) >= 10000 or short == int(short) else "%.5g" % short


class Job:
    def __init__(self, name, number, folder):
        letter, self.program, self.variant = name.split()
        self.kind, self.number = KINDS[letter], number
        self.name = "%s-%s-%s" % (self.kind, self.program, self.variant)
        self.options, self.cores, self.gpu, self.pattern, self.rate, self.bytes = JOBS[name]
        self.dir = os.path.join(folder, self.name)
        os.makedirs(self.dir)
        self.listener, self.port, self.listen_port = None, 0, 0
        if self.pattern or self.rate:
            self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
            self.listen_port = self.listener.getsockname()[1]
        if self.pattern:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
        self.process, self.code, self.rows, self.last, self.seen_io = None, None, [], None, {}
        self.seconds, self.killed = 0.0, False

    def command(self, seconds):
        command = [sys.executable, os.path.join(HERE, self.program + ".py"), "--seconds", "%g" % seconds,
                   "--dir", self.dir] + self.options.split()
        if self.pattern:
            command += ["--port", str(self.port)]
        elif self.rate:
            command += ["--source", "http://127.0.0.1:%d" % self.listen_port]
        return command

    def environment(self, end, smoke):
        cores = str(self.cores)
        more = {name: cores for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                         "NUMBA_NUM_THREADS", "JOB_CORES")}
        more.update(JAX_PLATFORMS="cpu", HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false",
                    PYTHONUNBUFFERED="1", TMPDIR=self.dir, PYTHONWARNINGS="ignore",
                    no_proxy="127.0.0.1", NO_PROXY="127.0.0.1")
        if not self.gpu:
            more["CUDA_VISIBLE_DEVICES"] = ""
        if end:
            more["JOB_END"] = "%.3f" % end
        if smoke:
            more["JOB_SMOKE"] = "1"
        return {**os.environ, **more}

    def makes_data(self):
        with open(os.path.join(HERE, self.program + ".py")) as file:
            return "common.prepared(" in file.read()

    def start(self, seconds, end, smoke):
        with open(os.path.join(self.dir, "stdout.txt"), "w") as out, open(os.path.join(self.dir, "errors.txt"), "w") as err:
            self.start_time = time.monotonic()
            self.process = subprocess.Popen(self.command(seconds), env=self.environment(end, smoke), cwd=self.dir,
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        self.last = (self.start_time, [0, 0, 0, 0, 0])

    def kill(self):
        """Ends the job's own process group, which is its own session's."""
        if self.process is not None and self.code is None:
            self.killed = True
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def ended(self):
        if self.code is None and self.process is not None and self.process.poll() is not None:
            self.code, self.seconds = self.process.returncode, time.monotonic() - self.start_time
            try:
                os.killpg(self.process.pid, signal.SIGKILL)  # children that it may have left
            except (ProcessLookupError, PermissionError):
                pass
        return self.code is not None

    def complaint(self, lines):
        try:
            with open(os.path.join(self.dir, "errors.txt"), errors="replace") as file:
                return "".join(file.readlines()[-lines:]).rstrip()
        except OSError:
            return ""


class Gpu:
    """Per-process use from NVML; every answer is None where NVML cannot be used."""

    def __init__(self):
        self.nvml, self.stamp, self.strange = None, 0, set()
        self.last_use, self.last_time = {}, 0.0
        try:
            import pynvml
            pynvml.nvmlInit()
            self.handle, self.nvml = pynvml.nvmlDeviceGetHandleByIndex(0), pynvml
        except Exception as error:
            print("no GPU figures:", error, flush=True)

    def sample(self):
        """Two dictionaries by process id: utilisation 0..1 and memory bytes; or None, None."""
        if self.nvml is None:
            return (None, None) if os.path.exists("/dev/nvidia0") else ({}, {})  # without a GPU none is used
        found, use, memory = {}, {}, {}
        try:
            for s in self.nvml.nvmlDeviceGetProcessUtilization(self.handle, self.stamp):
                if s.timeStamp > self.stamp and s.smUtil <= 100:
                    found.setdefault(s.pid, []).append((s.timeStamp, s.smUtil / 100))
            for pid, samples in found.items():
                use[pid] = sum(v for _, v in samples) / len(samples)
                self.stamp = max(self.stamp, max(t for t, _ in samples))
        except self.nvml.NVMLError_NotFound:
            pass
        except self.nvml.NVMLError:
            use = None
        if found:
            self.last_use, self.last_time = use, time.monotonic()
        elif use is not None and time.monotonic() - self.last_time < 1.5:
            use = self.last_use  # NVML has no newer sample yet
        try:
            for p in self.nvml.nvmlDeviceGetComputeRunningProcesses(self.handle):
                memory[p.pid] = memory.get(p.pid, 0) + (p.usedGpuMemory or 0)
                if not os.path.exists("/proc/%d" % p.pid):
                    self.strange.add(p.pid)
        except self.nvml.NVMLError:
            memory = None
        return use, memory


def processes():
    """All processes: pid -> (parent, session, state, clock ticks of it and of its ended children)."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as file:
                    f = file.read().rpartition(")")[2].split()
                found[int(name)] = (int(f[1]), int(f[3]), f[0], sum(map(int, f[11:15])))
            except (OSError, ValueError):
                pass
    return found


def trees(table, jobs):
    """The processes of every job: those of its session, and what descends from them."""
    roots = {job.process.pid: job for job in jobs}
    members = {job.number: [] for job in jobs}
    for pid in table:
        at, steps = pid, 0
        while at in table and steps < 40:
            owner = roots.get(at) or roots.get(table[at][1])
            if owner:
                members[owner.number].append(pid)
                break
            at, steps = table[at][0], steps + 1
    return members


def sample(jobs, gpu, count):
    """One row for every running job. Counters of reaped children are in their parents' cutime, cstime and io."""
    table = processes()
    now = time.monotonic()
    use, memory = gpu.sample()
    for number, pids in trees(table, jobs).items():
        job = next(j for j in jobs if j.number == number)
        root = table.get(job.process.pid)
        if root is None or root[2] in "ZX":
            continue
        resident, read, written, ticks = 0, 0, 0, 0
        for pid in pids:
            ticks += table[pid][3]
            try:
                with open("/proc/%d/statm" % pid) as file:
                    f = file.read().split()
                resident += max(0, int(f[1]) - int(f[2])) * PAGE
                with open("/proc/%d/io" % pid) as file:
                    io = dict(line.split(": ") for line in file.read().splitlines())
                job.seen_io[pid] = int(io["read_bytes"]), int(io["write_bytes"])
            except (OSError, ValueError, KeyError):
                pass
            r, w = job.seen_io.get(pid, (0, 0))
            read, written = read + r, written + w
        if not resident:
            continue  # it is just ending
        job.seen_io = {pid: job.seen_io[pid] for pid in pids if pid in job.seen_io}
        before, old = job.last
        totals = [ticks / TICK, read, written, count[4 * number], count[4 * number + 1]]
        totals = [max(a, b) for a, b in zip(totals, old)]
        step = max(1e-3, now - before)
        cpu, *rates = [(a - b) / step for a, b in zip(totals, old)]
        job.last = now, totals
        used = None if use is None else min(1.0, sum(use.get(p, 0) for p in pids))
        held = None if memory is None else sum(memory.get(p, 0) for p in pids)
        job.rows.append([now - job.start_time, cpu, resident] + rates + [used, held])


class Recorder:
    def __init__(self, options):
        self.options, self.gpu = options, Gpu()
        self.scratch = tempfile.mkdtemp(prefix="jobs.", dir=options.tmp)
        self.results = self.scratch + "/results" if options.tar else options.out
        os.makedirs(self.results, exist_ok=True)
        os.makedirs(options.out, exist_ok=True)
        self.table, self.errors, self.helpers = [], [], []

    def helpers_start(self, jobs, smoke):
        fork = multiprocessing.get_context("fork")
        count = fork.Array("Q", 4 * len(jobs), lock=False)
        self.helpers = [fork.Process(target=net.network, args=(jobs, count), daemon=True),
                        fork.Process(target=net.clients, args=(jobs, count, smoke), daemon=True)]
        for helper in self.helpers:
            helper.start()
        return count

    def helpers_stop(self, jobs):
        for helper in self.helpers:
            helper.kill()
            helper.join(2)
        self.helpers = []
        for job in jobs:
            if job.listener:
                job.listener.close()

    def set_up(self, jobs):
        """Makes the input data of all jobs of a wave at the same time; a slow one makes it itself later."""
        running = []
        for job in jobs:
            if job.makes_data():
                running.append(subprocess.Popen(job.command(1) + ["--setup"], env=job.environment(0, False), cwd=job.dir,
                                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))
        end = time.monotonic() + 15
        for process in running:
            try:
                process.wait(timeout=max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def keep(self, job, good, bad):
        """Writes one job's series and its line of the table; returns what went wrong or ''."""
        with open(os.path.join(self.results, job.name + ".csv"), "w") as file:
            file.write(",".join(COLUMNS) + "\n")
            file.writelines(",".join(map(text, row)) + "\n" for row in means(job.rows, self.options.every))
        wrong = "" if job.code == 0 else "killed at the limit" if job.killed else "exit code %s" % job.code
        if job.pattern and not good:
            wrong += " no good answer"
        if bad:
            wrong += " %d bad answers" % bad
        self.table.append([job.name + ".csv", job.kind, job.program, job.variant, text(job.seconds), str(job.code),
                           str(len(job.rows)), str(good)])
        if wrong:
            self.errors.append("== %s: %s\n%s\n" % (job.name, wrong.strip(), job.complaint(25)))
        return wrong.strip()

    def save(self):
        strange = ["NVML names processes that /proc does not: %s\n" % sorted(self.gpu.strange)[:9]] if self.gpu.strange else []
        label = "-" + self.options.waves if self.options.waves else ""
        with open(os.path.join(self.results, "jobs%s.csv" % label), "w") as file:
            file.write("file,kind,program,variant,seconds,exit_code,samples,good_answers\n")
            file.writelines(",".join(row) + "\n" for row in self.table)
        with open(os.path.join(self.results, "errors%s.txt" % label), "w") as file:
            file.writelines(strange + self.errors)
        if self.options.tar:
            path = os.path.join(self.options.out, "recordings%s.tar.gz" % label)
            with tarfile.open(path + ".part", "w:gz") as tar:
                tar.add(self.results, "recordings")
            os.replace(path + ".part", path)

    def wave(self, number, names):
        seconds, begin = self.options.seconds, time.monotonic()
        folder = os.path.join(self.scratch, "wave%d" % number)
        jobs = [Job(name, i, folder) for i, name in enumerate(names)]
        self.set_up(jobs)
        made = time.monotonic() - begin
        count = self.helpers_start(jobs, False)
        try:
            for job in jobs:
                job.start(seconds, time.time() + seconds + 5, False)
            start, tick = time.monotonic(), 0
            while not all([job.ended() for job in jobs]):
                tick += 1
                time.sleep(max(0.0, start + tick - time.monotonic()))
                sample([job for job in jobs if job.code is None], self.gpu, count)
                tick = max(tick, int(time.monotonic() - start))
                for job in jobs:
                    if time.monotonic() - job.start_time > seconds + self.options.grace:
                        job.kill()
        finally:
            for job in jobs:
                job.kill()
            self.helpers_stop(jobs)
        wrong = [(job.name, self.keep(job, count[4 * job.number + 2], count[4 * job.number + 3])) for job in jobs]
        self.save()
        shutil.rmtree(folder, ignore_errors=True)
        print("wave %d: %d jobs, data %.0f s, all %.0f s; %s" % (
            number, len(jobs), made, time.monotonic() - begin,
            "; ".join("%s: %s" % w for w in wrong if w[1]) or "all well"), flush=True)

    def smoke(self, names):
        """Every job for a few seconds, up to 14 at once; prints those that fail; ends within 58 s."""
        begin = time.monotonic()
        jobs = [Job(name, i, self.scratch + "/smoke") for i, name in enumerate(names)]
        count, waiting, running, failed = self.helpers_start(jobs, True), list(jobs), [], 0
        first = {}
        for job in jobs:
            first.setdefault(job.program, job)
        waiting.sort(key=lambda job: (first[job.program] is not job, not job.gpu))  # every program, slow starts first
        try:
            while (waiting or running) and time.monotonic() - begin < 57:
                while waiting and len(running) < self.options.at_once:
                    job = waiting.pop(0)
                    job.start(4, 0, True)
                    running.append(job)
                time.sleep(0.25)
                if running and int(4 * time.monotonic()) % 4 == 0:
                    sample([job for job in running if job.code is None], self.gpu, count)
                for job in list(running):
                    if time.monotonic() - job.start_time > 40:
                        job.kill()
                    if job.ended():
                        running.remove(job)
                        wrong = self.keep(job, count[4 * job.number + 2], count[4 * job.number + 3])
                        failed += bool(wrong)
                        top = [max((row[i] or 0 for row in job.rows), default=0) for i in (1, 2, 7)]
                        print("%-6s %-44s %5.1f s, at most %.1f cores, %.0f MB, GPU %.2f%s" % (
                            "FAILED" if wrong else "ok", job.name, job.seconds, top[0], top[1] / 1e6, top[2],
                            ", %d answers" % count[4 * job.number + 2] if job.pattern else ""), flush=True)
                        if wrong:
                            print("       " + wrong + "\n       " + job.complaint(3).replace("\n", "\n       "), flush=True)
        finally:
            for job in running:
                job.kill()
                print("FAILED %s did not end in time\n       %s" % (job.name, job.complaint(3)), flush=True)
            self.helpers_stop(jobs)
        self.save()
        print("smoke: %d jobs, %d failed, %d not ended, %d not started, %.0f s; NVML strangers %s" % (
            len(jobs), failed, len(running), len(waiting), time.monotonic() - begin, sorted(self.gpu.strange)[:5]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="recordings")
    parser.add_argument("--tmp", default="/tmp", help="where the jobs' folders go (removed at the end)")
    parser.add_argument("--seconds", type=float, default=100, help="main part of every job")
    parser.add_argument("--grace", type=float, default=10, help="a job is killed this long after its seconds")
    parser.add_argument("--every", type=int, default=1, help="keep means of so many seconds")
    parser.add_argument("--waves", default="", help="only these waves: 3 or 0-3")
    parser.add_argument("--together", type=int, default=1, help="run so many waves at the same time")
    parser.add_argument("--kinds", default="", help="only these kinds, with commas")
    parser.add_argument("--only", default="", help="only these programs, with commas")
    parser.add_argument("--smoke", action="store_true", help="every job for 4 s, to see which fail")
    parser.add_argument("--at-once", type=int, default=14, help="jobs at a time in --smoke")
    parser.add_argument("--tar", action="store_true", help="leave one recordings.tar.gz in --out instead of many files")
    options = parser.parse_args()
    kinds, only = options.kinds.split(","), options.only.split(",")
    first, _, last = options.waves.partition("-")
    picked = range(int(first), int(last or first) + 1) if first else range(len(WAVES))
    recorder = Recorder(options)
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))
    try:
        waves = [(n, [name for name in WAVES[n] if (not options.kinds or KINDS[name[0]] in kinds)
                      and (not options.only or name.split()[1] in only)]) for n in picked if n < len(WAVES)]
        waves = [(waves[i][0], [name for _, names in waves[i:i + options.together] for name in names])
                 for i in range(0, len(waves), options.together)]
        if options.smoke:
            recorder.smoke([name for _, names in waves for name in names])
        else:
            for number, names in waves:
                if names:
                    recorder.wave(number, names)
    finally:
        shutil.rmtree(recorder.scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
