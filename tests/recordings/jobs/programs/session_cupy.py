# SPDX-License-Identifier: Apache-2.0
"""A physicist at a Python prompt with CuPy: matrices, a Fourier transform, a small simulation."""
import common

args = common.arguments(size=4000, seed=4, median=7.0)
folder = common.output(args, "home")
CELLS = ["import cupy as cp, numpy as np, time", "a = cp.random.random((%d, %d), dtype=cp.float32); print(a.mean())"
         % (args.size, args.size), "print(float((a @ a).trace()))",
         "f = cp.fft.fft2(a); print(float(cp.abs(f).max()))",
         "s = a + a.T; w = cp.linalg.eigvalsh(s[:900, :900]); print(float(w[-1]))", """
u = cp.zeros((1500, 1500), cp.float32); u[700:800, 700:800] = 100
def heat(u, n):
    for _ in range(n):
        u = u + .2 * (cp.roll(u, 1, 0) + cp.roll(u, -1, 0) + cp.roll(u, 1, 1) + cp.roll(u, -1, 1) - 4 * u)
    return u
u = heat(u, 500); print(float(u.max()))
""", "u = heat(u, 5000); print(float(u.max()))", "h = cp.asnumpy(u); print(h[::300, ::300].round(2))",
         "np.save('heat.npy', h)", "p = cp.random.random((20000000, 2)); print(4 * float(((p ** 2).sum(1) <= 1).mean()))",
         "print(cp.histogram(a.ravel(), 20)[0])", "print(float(cp.sort(a.ravel())[len(a)]))",
         "q = np.linalg.eigvalsh(np.random.default_rng(1).random((500, 500))); print(q[-3:])",
         "print(cp.get_default_memory_pool().used_bytes())"]
common.python_session(args, CELLS, folder, args.seed, args.median)
