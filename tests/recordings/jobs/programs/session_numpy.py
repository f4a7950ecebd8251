# SPDX-License-Identifier: Apache-2.0
"""An engineer at a Python prompt: signals, fits and plot-like pictures with NumPy and SciPy."""
import common

args = common.arguments(seed=8, samples=2000000, median=7.0)
folder = common.output(args, "home")
CELLS = ["import numpy as np; r = np.random.default_rng(%d)" % args.seed,
         "t = np.linspace(0, 60, %d); s = np.sin(40 * t) + .3 * np.sin(333 * t) + r.normal(0, 1, t.size)" % args.samples,
         "print(s.mean(), s.std(), np.percentile(s, [1, 50, 99]))",
         "f = np.abs(np.fft.rfft(s)); k = np.argsort(f)[-5:]; print(k / 60, f[k])",
         "from scipy import signal, optimize; b = signal.butter(4, .01, output='sos')",
         "y = signal.sosfiltfilt(b, s); print(y[::200000])",
         "print(optimize.curve_fit(lambda t, a, w: a * np.sin(w * t), t[:50000], y[:50000], p0=[1, 40])[0])", """
yy, xx = np.mgrid[-1.2:1.2:600j, -2:.7:800j]
c = xx + 1j * yy; z = np.zeros_like(c); n = np.zeros(c.shape, int)
for _ in range(60):
    inside = np.abs(z) < 2
    z[inside] = z[inside] ** 2 + c[inside]; n += inside
print(''.join(' .:*#'[min(4, v // 13)] for v in n[300, ::16]))
""", "np.savetxt('s.csv', s[:100000].reshape(-1, 4), fmt='%.4f', delimiter=',')",
         "q = np.loadtxt('s.csv', delimiter=','); print(np.cov(q.T))",
         "m = r.random((1200, 1200)); print(np.linalg.svd(m, compute_uv=False)[:4])",
         "print(np.histogram2d(s[:-1], s[1:], bins=8)[0].astype(int))", "print(signal.find_peaks(y, distance=5000)[0][:9])",
         "np.savez_compressed('all.npz', s=s.astype(np.float32)); print('saved')"]
common.python_session(args, CELLS, folder, args.seed, args.median)
