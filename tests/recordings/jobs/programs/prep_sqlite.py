# SPDX-License-Identifier: Apache-2.0
"""Loads CSV rows into an SQLite database, indexes it, fills a feature table and exports it."""
import csv
import os
import random
import sqlite3

import common


def make(folder):
    chance = random.Random(7)
    with open(folder + "/events.csv", "w") as file:
        file.writelines("%d,%d,%s,%.3f\n" % (i, chance.randrange(40000), chance.choice("abcdef"), chance.random())
                        for i in range(600000))


args = common.arguments(batch=20000)
data, out = common.prepared(args, make), common.output(args)
clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    path = out + "/events.db"
    if os.path.exists(path):
        os.remove(path)
    base = sqlite3.connect(path)
    base.execute("create table event(id int, who int, kind text, value real)")
    with open(data + "/events.csv") as file:
        rows = []
        for row in csv.reader(file):
            rows.append(row)
            if len(rows) == args.batch:
                base.executemany("insert into event values(?,?,?,?)", rows)
                base.commit()
                rows = []
                if not clock.running():
                    break
    if clock.running():
        base.execute("create index by_who on event(who, kind)")
        base.execute("create table feature as select who, kind, count(*) n, avg(value) mean, max(value) top "
                     "from event group by who, kind")
        base.commit()
        with open(out + "/feature.csv", "w", newline="") as file:
            csv.writer(file).writerows(base.execute("select * from feature order by who"))
    base.close()
