# SPDX-License-Identifier: Apache-2.0
"""Cleans dirty CSV files with pandas (gaps, duplicates, categories, dates) and writes .npz arrays."""
import glob

import common
import random


def make(folder):
    chance = random.Random(2)
    for part in range(6):
        with open(folder + "/part%d.csv" % part, "w") as file:
            file.write("when,city,age,income,score\n")
            for _ in range(common.few(80000)):
                file.write("2024-%02d-%02d,%s,%s,%.2f,%s\n" % (
                    chance.randint(1, 12), chance.randint(1, 28), chance.choice(("Oslo", " rome", "LIMA", "")),
                    chance.choice(("", chance.randint(1, 99))), chance.random() * 9e4, chance.choice(("n/a", "1.5", "7"))))


args = common.arguments()
data, out = common.prepared(args, make), common.output(args)
import numpy
import pandas

clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    for name in sorted(glob.glob(data + "/*.csv")):
        table = pandas.read_csv(name, na_values=["n/a", ""]).drop_duplicates()
        table["when"] = pandas.to_datetime(table["when"], format="%Y-%m-%d")
        table["city"] = table["city"].fillna("none").str.strip().str.lower()
        table["age"] = table["age"].fillna(table["age"].median()).clip(16, 90)
        table["score"] = table["score"].astype(float).interpolate().fillna(0)
        table = table[table["income"] < table["income"].quantile(0.99)]
        month = table["when"].dt.month.to_numpy(dtype=numpy.int16)
        codes = pandas.factorize(table["city"], sort=True)[0].astype(numpy.int8)
        numbers = table[["age", "income", "score"]].to_numpy(dtype=numpy.float32)
        numbers = (numbers - numbers.mean(0)) / (numbers.std(0) + 1e-6)
        numpy.savez_compressed("%s/%d.npz" % (out, turn % 12), month=month, city=codes, numbers=numbers)
        turn += 1
        if not clock.running():
            break
