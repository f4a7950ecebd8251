# SPDX-License-Identifier: Apache-2.0
"""An engineer at a Python prompt looks for tones in a long signal, thinking between the steps."""
import common

args = common.arguments(samples=4000000, seed=94, median=8.0)
folder = common.output(args, "home")
CELLS = ["import numpy as np; r = np.random.default_rng(1)",
         "t = np.arange(%d) / 8000; s = np.sin(6.28 * 440 * t) + 0.5 * r.standard_normal(len(t)); print(s.std())" % args.samples,
         "f = np.abs(np.fft.rfft(s[:1 << 20])); print(f.argmax() * 8000 / (1 << 20))", "print(np.percentile(s, [1, 50, 99]))",
         "w = np.lib.stride_tricks.sliding_window_view(s, 1024)[::256]; print(w.shape)",
         "g = np.abs(np.fft.rfft(w * np.hanning(1024), axis=1)); print(g.mean(0).argmax())", "np.save('g.npy', g[:2000])",
         "k = np.sinc(np.arange(-64, 65) / 8) / 8; q = np.convolve(s, k, 'same'); print(q.std())",
         "print(np.corrcoef(s[:-18], s[18:]))", "e = (w ** 2).mean(1); print(e.min(), e.max())",
         "h = np.histogram(q, 50); print(h[0][:10])", "np.save('q.npy', q[::8])", "del g; print(len(s))"]
common.python_session(args, CELLS, folder, args.seed, args.median)
