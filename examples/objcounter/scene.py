# SPDX-License-Identifier: Apache-2.0
"""A river with animals crossing it, drawn: always the same, with a known number of animals."""
import cv2
import numpy as np

QUIET_FRAMES = 15   # at the start, in which the background can be learned
LANES = 4
GAP = 12            # frames between two animals; a lane is free again after LANES of them
CROSSING = 40       # frames that an animal takes
NOISES = 8


class Scene(object):
    """Iterates over `frames` pictures of `size` (width, height)."""

    def __init__(self, frames, size, seed=7):
        self.frames = frames
        self.size = size
        # As many as have crossed to the other side by the end.
        self.animals = max(0, (frames - QUIET_FRAMES - CROSSING) // GAP + 1)
        generator = np.random.RandomState(seed)
        self._background = self._draw_background(generator)
        self._noises = [generator.randint(0, 9, self._background.shape, np.uint8) for _ in range(NOISES)]

    def __iter__(self):
        for index in range(self.frames):
            yield self._draw(index)

    def _draw_background(self, generator):
        width, height = self.size
        coarse = generator.randint(60, 110, (9, 16, 3)).astype(np.uint8)
        picture = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
        shore = height // 12
        picture[shore:-shore, :, 0] += 60   # the water is bluer than its banks
        return picture

    def _draw(self, index):
        picture = cv2.add(self._background, self._noises[index % NOISES])
        for animal in range(self.animals):
            progress = (index - QUIET_FRAMES - animal * GAP) / CROSSING
            if 0 <= progress < 1:
                self._draw_animal(picture, animal, progress)
        return picture

    def _draw_animal(self, picture, animal, progress):
        width, height = self.size
        lane = height / LANES
        size = (int(width * 0.04), int(lane * 0.2))
        # From beyond one edge to beyond the other; every second one goes the other way.
        along = progress * (width + 2 * size[0]) - size[0]
        x = int(along if animal % 2 == 0 else width - along)
        y = int((animal % LANES + 0.5) * lane + 0.08 * lane * np.sin(12 * progress))
        cv2.ellipse(picture, (x, y), size, 0, 0, 360, (30, 35, 40 + 5 * (animal % 3)), -1)
