# SPDX-License-Identifier: Apache-2.0
"""Finds what moves in a picture, and follows it from picture to picture."""
import cv2


class Detector(object):
    """What differs from the background that it has learned, as (x, y) of each object's middle."""

    def __init__(self, size):
        self._least_area = size[0] * size[1] * 0.0008
        self._background = cv2.createBackgroundSubtractorMOG2(history=300, varThreshold=30, detectShadows=False)
        self._kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))

    def find(self, picture):
        smooth = cv2.bilateralFilter(picture, 5, 30, 30)
        mask = self._background.apply(smooth, learningRate=0.005)
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, self._kernel)
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, self._kernel, iterations=2)
        contours = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[-2]
        found = []
        for contour in contours:
            moments = cv2.moments(contour)
            if moments['m00'] >= self._least_area:
                found.append((moments['m10'] / moments['m00'], moments['m01'] / moments['m00']))
        return found


class Tracker(object):
    """Gives each object one track; a track counts once it has lived for a few pictures."""

    CONFIRMED = 5   # pictures
    FORGOTTEN = 5   # pictures without it

    def __init__(self, size):
        self._reach = (size[0] * 0.08, size[1] * 0.08)
        self._tracks = []   # [x, y, seen, missed]
        self.counted = 0

    def follow(self, objects):
        """Takes the objects of the next picture; returns how many confirmed ones are in sight."""
        free = list(objects)
        for track in self._tracks:
            nearest = min(free, key=lambda o: abs(o[0] - track[0]) + abs(o[1] - track[1]), default=None)
            if nearest is None or not self._is_near(track, nearest):
                track[3] += 1
                continue
            free.remove(nearest)
            track[:] = [nearest[0], nearest[1], track[2] + 1, 0]
            if track[2] == self.CONFIRMED:
                self.counted += 1
        self._tracks = [t for t in self._tracks if t[3] <= self.FORGOTTEN]
        self._tracks += [[x, y, 1, 0] for x, y in free]
        return sum(1 for t in self._tracks if t[2] >= self.CONFIRMED and t[3] == 0)

    def _is_near(self, track, found):
        late = 1 + track[3]
        return (abs(found[0] - track[0]) <= self._reach[0] * late and
                abs(found[1] - track[1]) <= self._reach[1])
