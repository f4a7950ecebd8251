# SPDX-License-Identifier: Apache-2.0
"""Writes a small convolutional network as an ONNX file, byte by byte (no onnx package needed)."""
import numpy


def number(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(tag, value):
    """A protobuf field: an integer, or bytes or text with its length."""
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(value)) + value


def weight(name, array):
    sizes = b"".join(field(1, n) for n in array.shape)
    return field(5, sizes + field(2, 1) + field(8, name) + field(9, array.astype("<f4").tobytes()))


def node(kind, inputs, output, **numbers):
    out = b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output) + field(4, kind)
    for name, values in numbers.items():
        if isinstance(values, int):
            out += field(5, field(1, name) + field(3, values) + field(20, 2))
        else:
            out += field(5, field(1, name) + b"".join(field(8, v) for v in values) + field(20, 7))
    return field(1, out)


def place(tag, name, sizes):
    shape = b"".join(field(1, field(1, n)) for n in sizes)
    return field(tag, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))


def write(path, size, widths, classes=10, seed=1):
    """Convolutions of the given widths, each halving the picture, then one linear layer."""
    chance, graph, last, channels = numpy.random.default_rng(seed), b"", "x", 3
    for i, width in enumerate(widths):
        graph += weight("w%d" % i, chance.normal(0, 1 / (3 * channels ** 0.5), (width, channels, 3, 3)))
        graph += weight("b%d" % i, numpy.zeros(width))
        graph += node("Conv", [last, "w%d" % i, "b%d" % i], "c%d" % i, kernel_shape=[3, 3],
                      pads=[1, 1, 1, 1], strides=[2, 2])
        graph += node("Relu", ["c%d" % i], "r%d" % i)
        last, channels = "r%d" % i, width
    graph += node("GlobalAveragePool", [last], "pool") + node("Flatten", ["pool"], "flat", axis=1)
    graph += weight("wf", chance.normal(0, 0.1, (classes, channels))) + weight("bf", numpy.zeros(classes))
    graph += node("Gemm", ["flat", "wf", "bf"], "y", transB=1)
    graph += field(2, "net") + place(11, "x", (1, 3, size, size)) + place(12, "y", (1, classes))
    model = field(1, 8) + field(2, "assay-jobs") + field(7, graph) + field(8, field(1, "") + field(2, 13))
    with open(path, "wb") as file:
        file.write(model)
