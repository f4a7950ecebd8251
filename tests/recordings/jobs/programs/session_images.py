# SPDX-License-Identifier: Apache-2.0
"""Someone editing photographs by hand from a Python prompt with Pillow."""
import common

args = common.arguments(width=3000, seed=5, median=8.0)
folder = common.output(args, "home")
CELLS = ["from PIL import Image, ImageFilter, ImageOps, ImageEnhance, ImageDraw; import random", """
w, h = %d, %d
i = Image.effect_noise((w // 8, h // 8), 90).resize((w, h), Image.Resampling.BICUBIC).convert('RGB')
i.save('a.jpg', quality=92); print(i.size)
""" % (args.width, args.width * 2 // 3), "i = Image.open('a.jpg'); i.load(); print(i.histogram()[:8])",
         "b = i.filter(ImageFilter.GaussianBlur(6)); b.save('b.jpg')", "print(i.getextrema())",
         "c = ImageEnhance.Contrast(i).enhance(1.4); c = ImageEnhance.Color(c).enhance(1.2); c.save('c.png')",
         "c = i.rotate(3.5, Image.Resampling.BICUBIC, expand=True); print(c.size)",
         "c = ImageOps.autocontrast(c.crop((200, 200, w - 200, h - 200))); c.save('d.jpg')",
         "d = i.filter(ImageFilter.UnsharpMask(4, 150, 3)); d.save('e.jpg')", """
d = ImageDraw.Draw(c)
for k in range(400):
    x, y = random.randrange(c.size[0]), random.randrange(c.size[1])
    d.ellipse((x, y, x + 40, y + 40), outline=(k % 255, 90, 200), width=3)
c.save('f.jpg')
""", "t = i.resize((400, 266), Image.Resampling.LANCZOS); t.save('t.png')",
         "m = i.filter(ImageFilter.MedianFilter(5)); m.save('m.jpg')", "g = ImageOps.grayscale(i); print(g.getbbox())"]
common.python_session(args, CELLS, folder, args.seed, args.median)
