# SPDX-License-Identifier: Apache-2.0
"""A researcher at a Python prompt with PyTorch: short trials on the GPU between long looks."""
import common

args = common.arguments(width=512, seed=2, tries=3.0, median=8.0)
folder = common.output(args, "home")
tries = 0.3 if common.SMOKE else args.tries
CELLS = ["import torch, time; from torch import nn; torch.set_num_threads(2)",
         "d = 'cuda' if torch.cuda.is_available() else 'cpu'; print(torch.__version__, d)", """
x = torch.randn(50000, 64, device=d); y = (x[:, :8] ** 2).sum(1, keepdim=True).sqrt()
print(x.shape, y.mean())
""", """
def net(w):
    return nn.Sequential(nn.Linear(64, w), nn.GELU(), nn.Linear(w, w), nn.GELU(), nn.Linear(w, 1)).to(d)
def fit(m, seconds, rate=1e-3, batch=2048):
    o, end, n = torch.optim.Adam(m.parameters(), rate), time.time() + seconds, 0
    while time.time() < end:
        i = torch.randint(0, len(x), (batch,), device=d)
        loss = nn.functional.mse_loss(m(x[i]), y[i])
        o.zero_grad(); loss.backward(); o.step(); n += 1
    return n, loss.item()
""", "m = net(%d); print(sum(p.numel() for p in m.parameters()))" % args.width, "print(fit(m, %g))" % tries,
         "with torch.no_grad(): print((m(x[:1000]) - y[:1000]).abs().mean())",
         "print([p.std().item() for p in m.parameters()])", "print(fit(m, %g, 3e-4))" % (tries * 1.5),
         "m2 = net(%d); print(fit(m2, %g, 2e-3, 8192))" % (args.width * 2, tries),
         "with torch.no_grad(): s = torch.linalg.svdvals(m2[2].weight.float()); print(s[:5])",
         "a = torch.randn(4096, 4096, device=d); print((a @ a).std())",
         "torch.save(m.state_dict(), 'm.pt')", "print(torch.histc(y.float().cpu(), 20))"]
common.python_session(args, CELLS, folder, args.seed, args.median)
