# SPDX-License-Identifier: Apache-2.0
"""Recommendation service: nearest items of a user vector by inner product, NumPy on the CPU."""
import common

args = common.arguments(items=300000, columns=64)
import json

import numpy

chance = numpy.random.default_rng(3)
items = chance.standard_normal((args.items, args.columns), dtype=numpy.float32)
items /= numpy.linalg.norm(items, axis=1, keepdims=True)
log = open(args.dir + "/served.jsonl", "a")


def answer(body):
    user = numpy.resize(numpy.frombuffer(body, numpy.uint8), args.columns).astype(numpy.float32) - 127
    scores = items @ user
    top = numpy.argpartition(scores, -50)[-50:]
    top = top[numpy.argsort(-scores[top])]
    reply = json.dumps({"items": top.tolist(), "scores": scores[top].round(3).tolist()})
    print(reply, file=log, flush=True)
    return reply.encode()


common.serve(args.port, answer, common.Clock(args.seconds))
