# SPDX-License-Identifier: Apache-2.0
"""Turns a log of nested JSON lines into clean tables: parses, drops bad rows, fills gaps, groups by day."""
import csv
import json

import common


def make(folder):
    import random
    chance = random.Random(44)
    lines = [json.dumps({"time": 1.7e9 + i * 7, "user": {"id": chance.randrange(9999), "lang": chance.choice("abc")},
                         "items": [{"sku": chance.randrange(500), "price": chance.random()} for _ in range(4)],
                         "note": "x" * chance.randrange(80)}) for i in range(20000)]
    with open(folder + "/log.jsonl", "w") as file:
        for _ in range(common.few(20)):
            file.write("\n".join(lines) + "\n{broken\n")


args = common.arguments()
data, out = common.prepared(args, make), common.output(args)
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    days = {}
    with open(data + "/log.jsonl") as file, open("%s/items%d.csv" % (out, turn % 4), "w") as table:
        writer = csv.writer(table)
        for number, line in enumerate(file):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            day = int(row["time"] // 86400)
            for item in row["items"]:
                days[day] = days.get(day, 0) + item["price"]
                writer.writerow([day, row["user"]["id"], row["user"]["lang"] or "?", item["sku"], "%.3f" % item["price"]])
            if number % 2000 == 0 and not clock.running():
                break
    with open("%s/days%d.json" % (out, turn % 4), "w") as file:
        json.dump(days, file)
    turn += 1
