# SPDX-License-Identifier: Apache-2.0
"""Trains a small GPT-2 style language model (random start) on text from a little grammar."""
import os
import random

import common

args = common.arguments(layers=4, embed=256, batch=16, length=128, accumulate=1, save=30.0)
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.set_num_threads(common.CORES)
torch.manual_seed(3)
device = "cuda" if torch.cuda.is_available() else "cpu"
chance = random.Random(3)
who = ["the cat", "a dog", "my friend", "the old man", "a small robot", "nobody"]
does = ["sees", "likes", "paints", "follows", "forgets", "repairs"]
text = " ".join("%s %s %s." % (chance.choice(who), chance.choice(does), chance.choice(who))
                for _ in range(40000))
tokens = torch.tensor(list(text.encode()), dtype=torch.long)
config = GPT2Config(vocab_size=256, n_positions=args.length, n_embd=args.embed, n_layer=args.layers,
                    n_head=args.embed // 64, bos_token_id=1, eos_token_id=2)
model = GPT2LMHeadModel(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
folder = common.output(args, "checkpoints")


def batch(low, high):
    starts = torch.randint(low, high - args.length, (args.batch,))
    return torch.stack([tokens[s:s + args.length] for s in starts.tolist()]).to(device)


edge = int(len(tokens) * 0.9)
clock, step, saved = common.Clock(args.seconds), 0, time.monotonic()
while clock.running():
    model.train()
    for _ in range(args.accumulate):
        ids = batch(0, edge)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(input_ids=ids, labels=ids).loss
        (loss / args.accumulate).backward()
    optimizer.step()
    optimizer.zero_grad()
    step += 1
    if step % 200 == 0:
        model.eval()
        with torch.no_grad():
            checks = []
            for _ in range(10):
                ids = batch(edge, len(tokens))
                checks.append(model(input_ids=ids, labels=ids).loss.item())
        print(step, loss.item(), sum(checks) / 10, flush=True)
    if time.monotonic() - saved > args.save:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()},
                   os.path.join(folder, "last.pt"))
        saved = time.monotonic()
