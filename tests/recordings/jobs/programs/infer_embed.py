# SPDX-License-Identifier: Apache-2.0
"""Text embedding run: a BERT-style encoder (random weights) turns sentences into vectors on disk."""
import common

args = common.arguments(layers=8, hidden=512, batch=256, length=128)
import zlib

import numpy
import torch
from transformers import BertConfig, BertModel

torch.set_num_threads(common.CORES)
device = "cuda" if torch.cuda.is_available() else "cpu"
config = BertConfig(vocab_size=8192, hidden_size=args.hidden, num_hidden_layers=args.layers,
                    num_attention_heads=args.hidden // 64, intermediate_size=4 * args.hidden,
                    max_position_embeddings=512)
model = BertModel(config).eval().to(device).to(torch.bfloat16)
chance = numpy.random.default_rng(6)
words = ["word%d" % i for i in range(5000)]
folder = common.output(args, "vectors")


def sentences(count):
    picked = chance.zipf(1.3, (count, args.length)) % 5000
    return [" ".join(words[i] for i in row) for row in picked.tolist()]


clock, part = common.Clock(args.seconds), 0
while clock.running():
    ids = [[zlib.crc32(w.encode()) % 8192 for w in line.split()] for line in sentences(args.batch)]
    with torch.inference_mode():
        hidden = model(input_ids=torch.tensor(ids, device=device)).last_hidden_state
        vectors = torch.nn.functional.normalize(hidden.float().mean(1), dim=1)
    numpy.save(folder + "/%04d.npy" % (part % 500), vectors.cpu().numpy())
    part += 1
