#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Learns to tell the kind of a job from the recordings beside, and tests that on programs not learned from.

    learn_kinds.py check PRINT_JOB_FEATURES WEIGHTS    fails when too few are right or WEIGHTS are stale
    learn_kinds.py write PRINT_JOB_FEATURES WEIGHTS    writes WEIGHTS, a C++ header

There are two sets of weights: one for series that show each second or few (FAST), learned from the recordings of 100 s,
and one for those that show means of half a minute and more (SLOW), from the long ones as rounds of the cluster's profiler
see them. A multinomial logistic regression over standardized features, with a quadratic penalty that is chosen among PENALTIES
by folds of the programs learned from only, so that a program held out has no say in it.
"""
import csv
import io
import pathlib
import re
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ["training", "inference", "interactive", "preparation"]
PENALTIES = [0.003, 0.01, 0.03, 0.1, 0.3]
FOLDS = 7
FAST = {"1s": "steps of 1 s", "5s": "steps of 5 s", "half": "first half, steps of 1 s"}
SLOW = {"30s": "rounds of 30 s, rates of 30 s", "60s": "rates of 60 s", "120s": "rates of 120 s"}
LEAST_RIGHT = {"1s": 0.90, "5s": 0.85, "half": 0.85, "30s": 0.79, "60s": 0.79, "120s": 0.79}
LEAST_CONFIDENCE = 0.45  # kLeastConfidence of job_kind.h


class Jobs:
    """Rows of features, one for each view of each recording."""

    def __init__(self, features, kinds, programs, views, files, names):
        self.features, self.kinds, self.programs = features, kinds, programs
        self.views, self.files, self.names = views, files, names

    def where(self, chosen):
        return Jobs(self.features[chosen], self.kinds[chosen], self.programs[chosen], self.views[chosen],
                    self.files[chosen], self.names)


def read_jobs(command):
    printed = subprocess.run([*command, str(HERE)], check=True, capture_output=True, text=True).stdout
    header, *rows = csv.reader(io.StringIO(printed))
    column = lambda name: np.array([row[header.index(name)] for row in rows])
    features = np.array([[float(cell) for cell in row[4:]] for row in rows])
    kinds = np.array([KINDS.index(kind) for kind in column("kind")])
    return Jobs(features, kinds, column("program"), column("view"), column("file"), header[4:])


class Model:
    """Standardizes, with what is not known as an average value, and gives a probability to each kind."""

    def __init__(self, jobs, penalty):
        self.mean = np.nanmean(jobs.features, axis=0)
        self.spread = np.maximum(np.nanstd(jobs.features, axis=0), 1e-6)
        self.weights = fit(self.standardized(jobs.features), jobs.kinds, penalty)

    def standardized(self, features):
        z = np.nan_to_num((features - self.mean) / self.spread, nan=0.0)
        return np.hstack([np.ones((len(z), 1)), np.clip(z, -3, 3)])

    def probabilities(self, features):
        return softmax(self.standardized(features) @ self.weights)


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def fit(x, kinds, penalty):
    """Newton's method; the constant is hardly penalized. The weights of a feature add up to zero over the kinds."""
    rows, width = x.shape
    classes = len(KINDS)
    wanted = np.eye(classes)[kinds]
    ridge = np.full((width, classes), penalty)
    ridge[0] = 1e-6
    weights = np.zeros((width, classes))
    for _ in range(50):
        p = softmax(x @ weights)
        slope = x.T @ (p - wanted) / rows + ridge * weights
        bend = np.zeros((width, classes, width, classes))
        for a in range(classes):
            for b in range(classes):
                factor = p[:, a] * ((a == b) - p[:, b]) / rows
                bend[:, a, :, b] = (x * factor[:, None]).T @ x
        bend = bend.reshape(width * classes, -1) + np.diag(ridge.ravel())
        step = np.linalg.solve(bend, slope.ravel()).reshape(width, classes)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def folds(programs, count):
    """Every program in one fold; dealt in the order of their names, so that kinds are spread."""
    names = sorted(set(programs))
    return [np.isin(programs, names[i::count]) for i in range(min(count, len(names)))]


def held_out(jobs, penalty, count):
    """The probabilities of every row by a model that has not seen its program."""
    result = np.zeros((len(jobs.kinds), len(KINDS)))
    for out in folds(jobs.programs, count):
        kept = jobs.where(~out)
        model = Model(kept, best_penalty(kept) if penalty is None else penalty)
        result[out] = model.probabilities(jobs.features[out])
    return result


def log_loss(jobs, p):
    return -np.mean(np.log(np.maximum(p[np.arange(len(p)), jobs.kinds], 1e-9)))


def best_penalty(jobs):
    return min(PENALTIES, key=lambda penalty: log_loss(jobs, held_out(jobs, penalty, FOLDS)))


def confusion(jobs, p):
    told = p.argmax(axis=1)
    print("\nheld out by program, %s; rows: what it is, columns: what it was taken for" % {**FAST, **SLOW}[jobs.views[0]])
    print(" " * 13 + "".join("%13s" % kind for kind in KINDS))
    for k, kind in enumerate(KINDS):
        print("%-13s" % kind + "".join("%13d" % np.sum((jobs.kinds == k) & (told == t)) for t in range(len(KINDS))))
    for file, right, row in zip(jobs.files, jobs.kinds, p):
        if row.argmax() != right:
            print("  %s taken for %s (%.2f; right: %.2f)" % (file, KINDS[row.argmax()], row.max(), row[right]))
    print()


def tell(label, jobs, p):
    """Prints and returns the share that is right; one that is not told counts as wrong in the second figure."""
    right, sure = p.argmax(axis=1) == jobs.kinds, p.max(axis=1) >= LEAST_CONFIDENCE
    print("%-44s %2d of %d right (%.1f %%); %d told, %d of these right" % (
        label, right.sum(), len(right), 100 * right.mean(), sure.sum(), (right & sure).sum()))
    return right.mean()


def examine(jobs, views, shown):
    """True when enough recordings are told right by models that have not seen their programs; one view is shown in full."""
    by_program, by_fold = held_out(jobs, None, len(jobs.kinds)), held_out(jobs, None, FOLDS)
    plain = jobs.views == shown
    confusion(jobs.where(plain), by_program[plain])
    shares = {}
    for view, words in views.items():
        chosen = jobs.views == view
        shares[view] = tell("one program left out, " + words, jobs.where(chosen), by_program[chosen])
        tell("%d folds by program, %s" % (FOLDS, words), jobs.where(chosen), by_fold[chosen])
    few = [view for view, share in shares.items() if share < LEAST_RIGHT[view]]
    for view in few:
        print("%s: fewer than %.0f %% are right" % (view, 100 * LEAST_RIGHT[view]))
    return not few


HEADER = """\
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <assay/analysis/job_kind.h>

/// Generated by tests/recordings/jobs/learn_kinds.py write PRINT_JOB_FEATURES THIS_FILE
namespace assay::analysis::job_kind_weights {

struct Feature {
  double mean;
  double spread;
  std::array<double, kJobKinds> weights;
};

struct Weights {
  std::array<double, kJobKinds> constant;
  std::array<Feature, %d> features;
};

// clang-format off
/// For series that show each second or few.
inline constexpr Weights kFast = {{%s}, {{
%s
}}};
/// For series of means of half a minute and more.
inline constexpr Weights kSlow = {{%s}, {{
%s
}}};
// clang-format on

}  // namespace assay::analysis::job_kind_weights
"""


def numbers(values):
    return ", ".join("%.4f" % value for value in values)


def as_lines(names, model):
    lines = ["    {%s, {%s}},  // %s" % (numbers([mean, spread]), numbers(weights), name) for name, mean, spread, weights
             in zip(names, model.mean, model.spread, model.weights[1:])]
    return numbers(model.weights[0]), "\n".join(lines)


def same(one, other):
    """The same but for the last digits, which may differ between machines."""
    number = re.compile(r"-?\d+\.\d{4}")
    a, b = number.findall(one), number.findall(other)
    return (number.sub("", one) == number.sub("", other) and len(a) == len(b)
            and all(abs(float(x) - float(y)) < 2e-3 for x, y in zip(a, b)))


def main(verb, *rest):
    *command, path = rest
    all_jobs, path = read_jobs(command), pathlib.Path(path)
    fast, slow = (all_jobs.where(np.isin(all_jobs.views, list(views))) for views in (FAST, SLOW))
    tables = []
    for jobs in fast, slow:
        penalty = best_penalty(jobs)
        print("%d recordings of %d programs, penalty %g" % (len(set(jobs.files)), len(set(jobs.programs)), penalty))
        tables += as_lines(jobs.names, Model(jobs, penalty))
    header = HEADER % (len(all_jobs.names), *tables)
    if verb == "write":
        path.write_text(header)
        return 0
    enough = examine(fast, FAST, "1s") & examine(slow, SLOW, "120s")
    fresh = same(header, path.read_text())
    if not fresh:
        print("%s is not what follows from the recordings: write it anew" % path)
    return 0 if enough and fresh else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) >= 4 else __doc__)
