# SPDX-License-Identifier: Apache-2.0
"""Trains a multilayer perceptron on a table of numbers, on the CPU, in epochs."""
import common

args = common.arguments(rows=300000, hidden=256, batch=512)
import torch
from torch import nn

torch.set_num_threads(common.CORES)
torch.manual_seed(4)
x = torch.randn(args.rows, 40)
y = ((x[:, 0] * x[:, 1] + torch.sin(3 * x[:, 2]) + x[:, 3:8].sum(1) * 0.3) > 0).float()
edge = int(args.rows * 0.8)
model = nn.Sequential(nn.Linear(40, args.hidden), nn.ReLU(), nn.Dropout(0.1),
                      nn.Linear(args.hidden, args.hidden), nn.ReLU(), nn.Linear(args.hidden, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
clock, best = common.Clock(args.seconds), 0.0
while clock.running():
    model.train()
    for picked in torch.randperm(edge).split(args.batch):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x[picked])[:, 0], y[picked])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not clock.running():
            break
    model.eval()
    with torch.no_grad():
        right = ((model(x[edge:])[:, 0] > 0) == (y[edge:] > 0.5)).float().mean().item()
    if right > best:
        best = right
        torch.save(model.state_dict(), args.dir + "/best.pt")
    print(loss.item(), right, flush=True)
