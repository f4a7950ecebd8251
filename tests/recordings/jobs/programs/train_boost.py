# SPDX-License-Identifier: Apache-2.0
"""Grows gradient boosted trees in rounds with scikit-learn, trying several learning rates."""
import common

args = common.arguments(rows=120000, columns=30)
import numpy
from sklearn.ensemble import HistGradientBoostingClassifier

chance = numpy.random.default_rng(5)
x = chance.standard_normal((args.rows, args.columns)).astype(numpy.float32)
y = (x[:, 0] * x[:, 1] + numpy.abs(x[:, 2]) - 0.7 + x[:, 3] * (x[:, 4] > 0) > 0).astype(int)
edge = int(args.rows * 0.8)
clock, rate = common.Clock(args.seconds), 0.2
while clock.running():
    model = HistGradientBoostingClassifier(learning_rate=rate, max_iter=8, max_leaf_nodes=31,
                                           warm_start=True, early_stopping=False, random_state=1)
    while clock.running() and model.max_iter <= 240:
        model.fit(x[:edge], y[:edge])
        print(rate, model.max_iter, model.score(x[edge:], y[edge:]), flush=True)
        model.set_params(max_iter=model.max_iter + 8)
    rate /= 2
