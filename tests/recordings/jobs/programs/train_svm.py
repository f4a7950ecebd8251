# SPDX-License-Identifier: Apache-2.0
"""Looks for the best support vector machine: trains one for each pair of settings and keeps the best."""
import common

args = common.arguments(rows=2500)
import cv2
import numpy

cv2.setNumThreads(common.CORES)
chance = numpy.random.default_rng(34)
x = chance.standard_normal((args.rows, 24)).astype(numpy.float32)
y = ((x[:, :4] ** 2).sum(1) > 3.5).astype(numpy.int32)
edge, best, tried = args.rows * 4 // 5, 0.0, 0
clock = common.Clock(args.seconds)
while clock.running():
    model = cv2.ml.SVM_create()
    model.setKernel(cv2.ml.SVM_RBF)
    model.setC(float(10 ** chance.uniform(-1, 2)))
    model.setGamma(float(10 ** chance.uniform(-2.5, 0)))
    model.setTermCriteria((cv2.TERM_CRITERIA_MAX_ITER, 20000, 1e-6))
    model.train(x[:edge], cv2.ml.ROW_SAMPLE, y[:edge])
    right = (model.predict(x[edge:])[1].ravel() == y[edge:]).mean()
    tried += 1
    if right > best:
        best = right
        model.save(args.dir + "/best.xml")
    print(tried, right, best, flush=True)
