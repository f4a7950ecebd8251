# SPDX-License-Identifier: Apache-2.0
"""Image classification service: every request is one 224 x 224 picture, answered on the GPU."""
import common

args = common.arguments(model="resnet18", views=1)
import numpy
import torch
import torchvision

torch.set_num_threads(common.CORES)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = getattr(torchvision.models, args.model)(weights=None).eval().to(device)
mean = torch.tensor([0.485, 0.456, 0.406], device=device).view(1, 3, 1, 1)


def answer(body):
    """The five best classes, averaged over several shifted views of the picture."""
    pixels = numpy.resize(numpy.frombuffer(body, numpy.uint8), 224 * 224 * 3).reshape(224, 224, 3)
    image = torch.from_numpy(pixels.copy()).to(device).permute(2, 0, 1)[None].float() / 255 - mean
    batch = torch.cat([torch.roll(image, 4 * i, 3) for i in range(args.views)])
    with torch.inference_mode():
        best = model(batch).softmax(1).mean(0).topk(5)
    return repr(list(zip(best.indices.tolist(), best.values.tolist()))).encode()


answer(b"warm up")
common.serve(args.port, answer, common.Clock(args.seconds))
