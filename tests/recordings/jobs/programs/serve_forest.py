# SPDX-License-Identifier: Apache-2.0
"""Credit-scoring like service: a fitted random forest answers small tables of rows, on the CPU."""
import pickle

import common
import numpy


def make(folder):
    """Fits and stores the model, before the service starts."""
    from sklearn.ensemble import RandomForestClassifier
    chance = numpy.random.default_rng(2)
    x = chance.random((4000, 32), dtype=numpy.float32)
    y = (x[:, 0] * x[:, 1] + x[:, 2] > 0.8).astype(int)
    model = RandomForestClassifier(n_estimators=args.trees, max_depth=12, n_jobs=2, random_state=1).fit(x, y)
    with open(folder + "/model.pickle", "wb") as file:
        pickle.dump(model.set_params(n_jobs=1), file)


args = common.arguments(trees=200, rows=64)
with open(common.prepared(args, make) + "/model.pickle", "rb") as file:
    model = pickle.load(file)


def answer(body):
    table = numpy.resize(numpy.frombuffer(body, numpy.uint8), args.rows * 32)
    chances = model.predict_proba(table.reshape(args.rows, 32).astype(numpy.float32) / 255)
    return repr(chances[:, 1].round(4).tolist()).encode()


common.serve(args.port, answer, common.Clock(args.seconds))
