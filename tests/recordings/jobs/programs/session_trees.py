# SPDX-License-Identifier: Apache-2.0
"""Somebody at a Python prompt tries decision trees on a table, with long looks between."""
import common

args = common.arguments(rows=4000, seed=93, median=7.0)
folder = common.output(args, "home")
CELLS = ["import cv2, numpy as np; cv2.setNumThreads(1); r = np.random.default_rng(1)",
         "x = r.standard_normal((%d, 16)).astype(np.float32); y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)" % args.rows,
         "print(x.mean(0), np.bincount(y))", """
def forest(depth, trees):
    m = cv2.ml.RTrees_create(); m.setMaxDepth(depth); m.setTermCriteria((cv2.TERM_CRITERIA_MAX_ITER, trees, 0))
    m.train(x[1000:], cv2.ml.ROW_SAMPLE, y[1000:]); return m
def right(m):
    return (m.predict(x[:1000])[1].ravel() == y[:1000]).mean()
""", "m = forest(6, 30); print(right(m))", "m = forest(12, 60); print(right(m))", "m.save('forest.xml')",
         "print(np.corrcoef(x.T)[:3])", "m = forest(16, 150); print(right(m))", "np.save('x.npy', x)",
         "b = cv2.ml.Boost_create(); b.setWeakCount(100); b.train(x[1000:], cv2.ml.ROW_SAMPLE, y[1000:]); print(right(b))",
         "print(np.histogram(x[:, 0], 20))", "x[:, 15] = x[:, 0] * x[:, 1]", "print(right(forest(8, 40)))"]
common.python_session(args, CELLS, folder, args.seed, args.median)
