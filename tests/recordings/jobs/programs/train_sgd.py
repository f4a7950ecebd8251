# SPDX-License-Identifier: Apache-2.0
"""Out-of-core training: a linear model learns from a CSV file read in chunks, epoch by epoch."""
import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(7)
    x = chance.standard_normal((20000, 30))
    y = (x[:, :10].sum(1) + chance.standard_normal(20000) > 0).astype(int)
    rows = [",".join("%.3f" % v for v in row) + ",%d\n" % label for row, label in zip(x.tolist(), y)]
    text = "".join(rows)
    with open(folder + "/table.csv", "w") as file:
        file.write(",".join("f%d" % i for i in range(30)) + ",label\n")
        for _ in range(30):
            file.write(text)


args = common.arguments(chunk=20000)
data = common.prepared(args, make)
import pandas
from sklearn.linear_model import SGDClassifier

model = SGDClassifier(loss="log_loss", alpha=1e-5, random_state=1)
clock, epoch = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    for chunk in pandas.read_csv(data + "/table.csv", chunksize=args.chunk):
        x = chunk.iloc[:, :-1].to_numpy(dtype=float)
        y = chunk.iloc[:, -1].to_numpy(dtype=int)
        for _ in range(3):
            model.partial_fit(x, y, classes=[0, 1])
        if not clock.running():
            break
    epoch += 1
    print(epoch, model.score(x, y), flush=True)
