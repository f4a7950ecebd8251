# SPDX-License-Identifier: Apache-2.0
"""Whether cameras played from a dataset keep their rate, and what playing costs."""
import json
import subprocess
import sys

import harness

TITLE = "playing a dataset as cameras"
STREAMS, RATE, SECONDS, ROUNDS = 4, 30, 20, 3
READER = harness.ROOT / "bench" / "programs" / "read_mjpeg.py"


def run(bench):
    rounds = [bench.once(f"round {i}", lambda: measure(bench)) for i in range(ROUNDS)]
    readers = [r for one in rounds for r in one["readers"]]
    slowest = min(r["frames"] / r["seconds"] for r in readers)
    cores = [one["cpu_seconds"] / one["seconds"] for one in rounds]
    size = sum(r["bytes"] for r in readers) / sum(r["frames"] for r in readers)
    bench.row(f"rate of the slowest of {STREAMS} streams of 1080p", f"{slowest:.2f} fps",
              f"asked for {RATE}; longest gap {max(r['longest_gap'] for r in readers) * 1000:.0f} ms; "
              f"{sum(one['late'] for one in rounds)} late and {sum(one['skipped'] for one in rounds)} skipped "
              f"of {sum(r['frames'] for r in readers)} frames", f"at least {RATE * 0.995:.2f} fps", slowest >= RATE * 0.995)
    bench.row("CPU time of playing them", f"{max(cores):.3f} cores",
              f"frames of {size / 1000:.0f} kB, {size * STREAMS * RATE / 1e6:.0f} MB/s; the worst of {ROUNDS} times {SECONDS} s",
              "at most 0.2 cores", max(cores) <= 0.2)


def measure(bench):
    frames = make_frames(bench)
    streams = [f"cam{i}=video:{RATE}:loop:" for i in range(STREAMS)]
    player = subprocess.Popen([bench.bin / "play_dataset", frames, bench.work / "cache", *streams], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        config = json.loads(player.stdout.readline())
        readers = [subprocess.Popen([sys.executable, READER, s["handler"]["args"]["url"], str(SECONDS)], text=True,
                                    stdout=subprocess.PIPE) for s in config]
        results = [json.loads(reader.communicate()[0]) for reader in readers]
    finally:
        stats = json.loads(player.communicate()[0].splitlines()[-1])
    return {"readers": results, "seconds": max(r["seconds"] for r in results), "cpu_seconds": stats["cpu_seconds"],
            "late": sum(s["late"] for s in stats["streams"].values()),
            "skipped": sum(s["skipped"] for s in stats["streams"].values())}


def make_frames(bench):
    """Two seconds of a moving picture with a camera's noise."""
    folder = bench.work / "frames"
    if not folder.exists():
        folder.mkdir()
        bench.command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size=1920x1080:rate={RATE}:duration=2",
                      "-vf", "noise=alls=12:allf=t", "-pix_fmt", "yuvj420p", "-q:v", "4", folder / "%04d.jpg")
    return folder
