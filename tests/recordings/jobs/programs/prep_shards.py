# SPDX-License-Identifier: Apache-2.0
"""Shuffles many small sample files and packs them into tar shards with an index."""
import glob
import io
import json
import os
import random
import tarfile

import common


def make(folder):
    for i in range(1500):
        with open("%s/%05d.bin" % (folder, i), "wb") as file:
            file.write(os.urandom(60000 + i * 40))


args = common.arguments(shard=100)
data, out = common.prepared(args, make), common.output(args)
clock, chance = common.Clock(args.seconds), random.Random(8)
while clock.running():
    common.cold(data)
    names = glob.glob(data + "/*.bin")
    chance.shuffle(names)
    index = {}
    for start in range(0, len(names), args.shard):
        shard = "%s/%05d.tar" % (out, start // args.shard)
        with tarfile.open(shard, "w") as tar:
            for name in names[start:start + args.shard]:
                tar.add(name, os.path.basename(name))
                note = json.dumps({"bytes": os.path.getsize(name), "label": chance.randrange(10)}).encode()
                entry = tarfile.TarInfo(os.path.basename(name) + ".json")
                entry.size = len(note)
                tar.addfile(entry, io.BytesIO(note))
                index[os.path.basename(name)] = shard
        with open(shard, "rb+") as file:
            os.fsync(file.fileno())
        if not clock.running():
            break
    with open(out + "/index.json", "w") as file:
        json.dump(index, file)
