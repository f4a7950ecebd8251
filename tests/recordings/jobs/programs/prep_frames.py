# SPDX-License-Identifier: Apache-2.0
"""ffmpeg cuts videos into pictures of another size and into sound-less short clips."""
import subprocess

import common


def make(folder):
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=960x540:rate=25:duration=%d"
                    % max(2, common.few(30)), "-c:v", "mjpeg", "-q:v", "4", folder + "/in.avi"], check=True)


args = common.arguments(side=320)
data, out = common.prepared(args, make), common.output(args)
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    for more in (["-vf", "fps=12,scale=%d:-2,hqdn3d" % args.side, "%s/%d-%%04d.png" % (out, turn % 4)],
                 ["-vf", "scale=640:-2,unsharp", "-c:v", "mpeg4", "-q:v", "5", "%s/%d.mp4" % (out, turn % 4)]):
        work = subprocess.Popen(["ffmpeg", "-v", "error", "-y", "-threads", "1", "-i", data + "/in.avi", *more])
        try:
            work.wait(timeout=clock.left())
        except subprocess.TimeoutExpired:
            work.terminate()
            work.wait()
    turn += 1
