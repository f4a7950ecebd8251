# SPDX-License-Identifier: Apache-2.0
"""What it costs to inspect a large model: its weights must not be read."""
import json
import os
import time

TITLE = "inspecting a model"
LAYERS, WIDTH = 512, 500          # 512 layers of 500 x 500 floats: 512 MB
ROUNDS = 5


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(tag, body):
    return number(tag << 3 | 2) + number(len(body)) + body


def value(name, dims):
    shape = b"".join(field(1, b"\x08" + number(d)) for d in dims)
    return field(1, name) + field(2, field(1, b"\x08\x01" + field(2, shape)))


def write_model(path, layers, width):
    """A chain of MatMul and Relu; the weights are zeros that were really written."""
    head = b"\x08" + number(width) + b"\x08" + number(width) + b"\x10\x01"
    payload = bytes(width * width * 4)
    parts, size = [], 0
    for i in range(layers):
        x, w, h, y = (f"{kind}{n}".encode() for kind, n in (("x", i), ("w", i), ("h", i), ("x", i + 1)))
        node = field(1, field(1, x) + field(1, w) + field(2, h) + field(4, b"MatMul"))
        node += field(1, field(1, h) + field(2, y) + field(4, b"Relu"))
        tensor = head + field(8, w)
        start = node + number(5 << 3 | 2) + number(len(tensor) + len(field(9, payload))) + tensor
        start += number(9 << 3 | 2) + number(len(payload))
        parts.append(start)
        size += len(start) + len(payload)
    ends = field(2, b"g") + field(11, value(b"x0", [1, width])) + field(12, value(f"x{layers}".encode(), [1, width]))
    with open(path, "wb") as file:
        file.write(b"\x08\x08" + field(8, b"\x10\x0d") + number(7 << 3 | 2) + number(size + len(ends)) + ends)
        for start in parts:
            file.write(start + payload)


def inspect(bench, path):
    """Seconds, the most resident memory in MB, and the document. By GNU time: a child of ours would begin with our size."""
    kept = bench.work / "resident"
    start = time.perf_counter()
    text = bench.command("/usr/bin/time", "-f", "%M", "-o", kept, bench.assay, "model", "inspect", path, "--json")
    seconds = time.perf_counter() - start
    return seconds, int(kept.read_text(encoding="utf-8")) * 1024 / 1e6, json.loads(text)


def run(bench):
    def measure():
        path = bench.work / "large.onnx"
        write_model(path, LAYERS, WIDTH)
        try:
            size = path.stat().st_size
            found = [inspect(bench, path) for _ in range(ROUNDS)]
            cold(path)
            first = inspect(bench, path)
        finally:
            path.unlink()
        document = found[0][2]
        return {"bytes": size, "seconds": [f[0] for f in found], "resident": [f[1] for f in found],
                "cold_seconds": first[0], "macs": document["macs"], "parameters": document["total_parameters"]}

    found = bench.once("a 512 MB model", measure)
    right = found["macs"] == found["parameters"] == LAYERS * WIDTH * WIDTH
    beside = f"{found['bytes'] / 1e6:.0f} MB, {LAYERS} layers; " + ("counts are right" if right else "COUNTS ARE WRONG")
    slowest = max(found["seconds"])
    bench.row("inspect a 500 MB model, slowest of 5", f"{slowest:.3f} s", beside, "at most 1 s", right and slowest <= 1)
    bench.row("the same with nothing of it in memory", f"{found['cold_seconds']:.3f} s", "pages dropped before",
              "at most 1 s", found["cold_seconds"] <= 1)
    resident = max(found["resident"])
    bench.row("most resident memory", f"{resident:.1f} MB", "pages of the file included", "at most 100 MB",
              resident <= 100)


def cold(path):
    """Drops the file's pages from memory."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
