# SPDX-License-Identifier: Apache-2.0
"""A notebook kernel: runs the cells that a human (the recorder's client) sends over the network."""
import contextlib
import io
import json

import common

args = common.arguments(kind="science", rows=60000)
SCIENCE = ["import numpy as np\nfrom sklearn.datasets import make_classification",
           "x, y = make_classification(%d, 20, n_informative=8, random_state=1); print(x.shape)" % args.rows,
           "print(x.mean(0).round(2), np.bincount(y))", "print(np.corrcoef(x.T).round(2).tolist())",
           "from sklearn.tree import DecisionTreeClassifier\nm = DecisionTreeClassifier(max_depth=9).fit(x, y); print(m.score(x, y))",
           "from sklearn.ensemble import RandomForestClassifier\nf = RandomForestClassifier(30, max_depth=10).fit(x, y); print(f.feature_importances_)",
           "from sklearn.decomposition import PCA\nprint(PCA(5).fit(x).explained_variance_ratio_)",
           "from sklearn.model_selection import cross_val_score\nprint(cross_val_score(m, x[:20000], y[:20000], cv=3))",
           "h = np.histogram2d(x[:, 0], x[:, 1], bins=200)[0]; print(h.astype(int).tolist())",
           "p = f.predict_proba(x[:5000]); print(p[:20])", "z = (x - x.mean(0)) / x.std(0); print(z[:5])"]
VISION = ["import torch, torchvision\nd = 'cuda' if torch.cuda.is_available() else 'cpu'\ntorch.set_num_threads(2)",
          "m = torchvision.models.resnet34(weights=None).eval().to(d); print(sum(p.numel() for p in m.parameters()))",
          "x = torch.randn(64, 3, 224, 224, device=d)\nwith torch.no_grad(): print(m(x).std())",
          "print((x[0] * 40 + 128).clamp(0, 255).byte().cpu().numpy().tobytes().hex()[:150000])",
          "with torch.no_grad():\n    for _ in range(%d): y = m(x)\nprint(y[0, :9])" % (3 if common.SMOKE else 60),
          "o = torch.optim.SGD(m.parameters(), 1e-3)\nfor _ in range(%d):\n    loss = m(x).logsumexp(1).mean()\n    "
          "o.zero_grad(); loss.backward(); o.step()\nprint(loss.item())" % (3 if common.SMOKE else 40),
          "print([(n, tuple(p.shape)) for n, p in m.named_parameters()])",
          "print(torch.fft.rfft2(x).abs().mean((0, 1))[:6, :6])",
          "from PIL import Image\nimport numpy as np\ni = Image.effect_noise((900, 600), 60); print(np.asarray(i)[:40].tolist())",
          "w = m.conv1.weight.detach().cpu(); print(w.flatten(1).norm(dim=1).tolist())"]


def make(folder):
    with open(folder + "/cells.json", "w") as file:
        json.dump(SCIENCE if args.kind == "science" else VISION, file)


common.prepared(args, make)
names = {}


def answer(body):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(body.decode(), names)
    return said.getvalue().encode()


common.serve(args.port, answer, common.Clock(20 if common.SMOKE else args.seconds))
