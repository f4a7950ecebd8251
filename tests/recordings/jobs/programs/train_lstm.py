# SPDX-License-Identifier: Apache-2.0
"""Trains an LSTM to forecast sums of noisy sines, on the GPU or the CPU."""
import common

args = common.arguments(device="cuda", hidden=128, batch=128, window=96, steps=150)
import torch
from torch import nn

torch.set_num_threads(common.CORES)
torch.manual_seed(2)
device = args.device if torch.cuda.is_available() else "cpu"
time_axis = torch.arange(20000.0)
series = torch.stack([torch.sin(time_axis / p) + 0.5 * torch.sin(time_axis / (p / 3.3))
                      for p in (5, 8, 13, 21, 34, 55, 89, 144)], 1)
series += 0.1 * torch.randn_like(series)
channels = series.shape[1]


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(channels, args.hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(args.hidden, channels)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


def batch(low, high):
    starts = torch.randint(low, high - args.window - 1, (args.batch,))
    rows = torch.stack([series[s:s + args.window + 1] for s in starts.tolist()]).to(device)
    return rows[:, :-1], rows[:, 1:]


model = Forecaster().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
clock = common.Clock(args.seconds)
while clock.running():
    for _ in range(args.steps):
        x, y = batch(0, 16000)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if not clock.running():
            break
    with torch.no_grad():
        checks = [nn.functional.mse_loss(model(x), y).item() for x, y in
                  (batch(16000, 20000) for _ in range(15))]
    schedule.step()
    print(loss.item(), sum(checks) / len(checks), flush=True)
