# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning: a deep Q network balances many poles simulated with NumPy."""
import common

args = common.arguments(device="cuda", poles=32, hidden=128, batch=256)
import numpy
import torch
from torch import nn

torch.set_num_threads(common.CORES)
device = args.device if torch.cuda.is_available() else "cpu"
chance = numpy.random.default_rng(11)


def network():
    return nn.Sequential(nn.Linear(4, args.hidden), nn.ReLU(), nn.Linear(args.hidden, args.hidden),
                         nn.ReLU(), nn.Linear(args.hidden, 2)).to(device)


def advance(state, action):
    """One 0.02 s step of carts (place, speed) with poles (angle, turning speed)."""
    x, v, a, w = state.T
    push = numpy.where(action == 1, 10.0, -10.0)
    pull = (push + 0.05 * w * w * numpy.sin(a)) / 1.1
    turn = (9.8 * numpy.sin(a) - numpy.cos(a) * pull) / (0.5 * (4 / 3 - 0.1 * numpy.cos(a) ** 2 / 1.1))
    speed = pull - 0.05 * turn * numpy.cos(a) / 1.1
    after = numpy.stack([x + 0.02 * v, v + 0.02 * speed, a + 0.02 * w, w + 0.02 * turn], 1)
    return after, (numpy.abs(after[:, 0]) > 2.4) | (numpy.abs(after[:, 2]) > 0.21)


def tensor(rows):
    return torch.as_tensor(rows, dtype=torch.float32, device=device)


online, target = network(), network()
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=5e-4)
size, filled, place = 50000, 0, 0
memory = numpy.zeros((size, 11), numpy.float32)
state = chance.uniform(-0.05, 0.05, (args.poles, 4))
clock, steps, falls = common.Clock(args.seconds), 0, 0
while clock.running():
    with torch.no_grad():
        action = online(tensor(state)).argmax(1).cpu().numpy()
    curious = chance.random(args.poles) < max(0.05, 1 - steps / 3000)
    action = numpy.where(curious, chance.integers(0, 2, args.poles), action)
    after, fell = advance(state, action)
    rows = numpy.concatenate([state, action[:, None], 1.0 - fell[:, None], after, fell[:, None]], 1)
    memory[(place + numpy.arange(args.poles)) % size] = rows
    place, filled = (place + args.poles) % size, min(size, filled + args.poles)
    after[fell] = chance.uniform(-0.05, 0.05, (int(fell.sum()), 4))
    state, steps, falls = after, steps + 1, falls + int(fell.sum())
    if filled > 2000:
        m = tensor(memory[chance.integers(0, filled, args.batch)])
        with torch.no_grad():
            goal = m[:, 5] + 0.99 * target(m[:, 6:10]).max(1).values * (1 - m[:, 10])
        value = online(m[:, :4]).gather(1, m[:, 4:5].long())[:, 0]
        loss = nn.functional.smooth_l1_loss(value, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if steps % 500 == 0:
        target.load_state_dict(online.state_dict())
        print(steps, falls, flush=True)
