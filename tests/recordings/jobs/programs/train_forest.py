# SPDX-License-Identifier: Apache-2.0
"""Grows a random forest tree by tree (warm start), saving the model after every round."""
import pickle

import common

args = common.arguments(rows=40000, trees=4, depth=14)
import numpy
from sklearn.ensemble import RandomForestClassifier

chance = numpy.random.default_rng(6)
x = chance.standard_normal((args.rows, 24)).astype(numpy.float32)
y = (numpy.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] > 0).astype(int) + 2 * (x[:, 3] > 0.5)
edge = int(args.rows * 0.8)
model = RandomForestClassifier(n_estimators=args.trees, max_depth=args.depth, warm_start=True,
                               n_jobs=common.CORES, random_state=1)
clock = common.Clock(args.seconds)
while clock.running():
    model.fit(x[:edge], y[:edge])
    print(model.n_estimators, model.score(x[edge:], y[edge:]), flush=True)
    with open(args.dir + "/forest.pickle", "wb") as file:
        pickle.dump(model, file)
    model.set_params(n_estimators=model.n_estimators + args.trees)
