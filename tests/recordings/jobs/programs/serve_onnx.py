# SPDX-License-Identifier: Apache-2.0
"""Picture service on the CPU with ONNX Runtime; every request is a picture of raw bytes."""
import common

args = common.arguments(size=256, width=48)
import numpy
import onnxfile
import onnxruntime

path = args.dir + "/net.onnx"
onnxfile.write(path, args.size, [args.width, args.width * 2, args.width * 4, args.width * 4])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = common.CORES
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def answer(body):
    pixels = numpy.resize(numpy.frombuffer(body, numpy.uint8), 3 * args.size * args.size)
    image = pixels.reshape(1, 3, args.size, args.size).astype(numpy.float32) / 255
    for _ in range(4):  # four crops of the picture
        scores = session.run(None, {"x": image})[0]
        image = numpy.ascontiguousarray(numpy.roll(image, 16, 3))
    return repr(scores[0].round(4).tolist()).encode()


answer(b"warm up")
common.serve(args.port, answer, common.Clock(args.seconds))
