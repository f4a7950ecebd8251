# SPDX-License-Identifier: Apache-2.0
"""Downloads packed archives from --source, unpacks them, checks and rewrites the tables inside."""
import csv
import io
import os
import random
import shutil
import tarfile
import urllib.request

import common


def make(folder):
    chance = random.Random(12)
    for part in range(6):
        with tarfile.open("%s/%d.tar.gz" % (folder, part), "w:gz", compresslevel=1) as tar:
            for number in range(4):
                text = "".join("%d,%.5f,%d\n" % (i, chance.random(), chance.randrange(99)) for i in range(60000))
                entry = tarfile.TarInfo("table%d.csv" % number)
                entry.size = len(text)
                tar.addfile(entry, io.BytesIO(text.encode()))


args = common.arguments()
common.prepared(args, make)
out = common.output(args)
clock, part = common.Clock(args.seconds), 0
while clock.running():
    packed = "%s/%d.tar.gz" % (out, part % 6)
    with urllib.request.urlopen("%s/%d.tar.gz" % (args.source, part % 6), timeout=20) as reply, open(packed, "wb") as file:
        shutil.copyfileobj(reply, file)
    with tarfile.open(packed) as tar:
        for entry in tar:
            good = 0
            with open("%s/%d-%s" % (out, part % 6, os.path.basename(entry.name)), "w", newline="") as file:
                writer = csv.writer(file, delimiter="\t")
                for row in csv.reader(io.TextIOWrapper(tar.extractfile(entry))):
                    if float(row[1]) > 0.1:
                        writer.writerow([row[0], "%.3f" % float(row[1]), int(row[2]) % 10])
                        good += 1
            assert good > 0
            if not clock.running():
                break
    os.remove(packed)
    part += 1
