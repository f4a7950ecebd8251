# SPDX-License-Identifier: Apache-2.0
"""Someone trying out picture filters from a Python prompt with OpenCV."""
import common

args = common.arguments(width=3000, seed=9, median=7.0)
folder = common.output(args, "home")
CELLS = ["import cv2, numpy as np; cv2.setNumThreads(1)",
         "i = cv2.resize(np.random.default_rng(1).integers(0, 255, (40, 60, 3), dtype=np.uint8), (%d, %d)); print(i.shape)"
         % (args.width, args.width * 2 // 3), "cv2.imwrite('a.png', i)", "g = cv2.cvtColor(i, cv2.COLOR_BGR2GRAY); print(g.mean())",
         "e = cv2.Canny(g, 20, 60); print((e > 0).sum())", "b = cv2.bilateralFilter(i, 9, 60, 60); cv2.imwrite('b.jpg', b)",
         "c, _ = cv2.findContours(e, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE); print(len(c))",
         "k = cv2.ORB_create(2000).detect(g, None); print(len(k))", "print(i.dtype, i.nbytes)",
         "m = cv2.medianBlur(i, 15); cv2.imwrite('m.jpg', m)",
         "d = cv2.fastNlMeansDenoising(g[:700, :700]); print(d.std())",
         "h = cv2.calcHist([g], [0], None, [32], [0, 256]).ravel(); print(h[:4])",
         "r = cv2.warpAffine(i, cv2.getRotationMatrix2D((500, 500), 12, 1.1), (1500, 1000)); cv2.imwrite('r.png', r)"]
common.python_session(args, CELLS, folder, args.seed, args.median)
