# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import socket
import subprocess
import sys

import cv2

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from scene import Scene  # noqa: E402


def run(*arguments, **environment):
    out = subprocess.check_output([sys.executable, os.path.join(HERE, 'objcounter.py')] + list(arguments),
                                  env=dict(os.environ, **environment), universal_newlines=True, timeout=250)
    seen, counted = re.search(r'(\d+) frames, (\d+) animals', out).groups()
    return int(seen), int(counted), out


def test_it_counts_the_animals_that_there_are():
    for size, frames, animals in (('320x240', 130, 7), ('640x360', 80, 3)):
        assert Scene(frames, (320, 240)).animals == animals
        seen, counted, out = run('--frames', str(frames), '--size', size, '--use-cpu')
        assert (seen, counted) == (frames, animals), size
        assert 'the scene has %d animals' % animals in out


def test_it_counts_none_where_there_are_none():
    assert run('--frames', '14', '--size', '320x240')[:2] == (14, 0)


def test_it_reads_a_folder_of_pictures(tmp_path):
    scene = Scene(80, (320, 240))
    for index, picture in enumerate(scene):
        cv2.imwrite(str(tmp_path / ('%03d.png' % index)), picture)
    assert run('--input', str(tmp_path), '--size', '320x240')[:2] == (80, scene.animals)
    assert scene.animals > 0


def test_it_finds_its_camera_in_the_nodes_list(tmp_path):
    video = str(tmp_path / 'river.avi')
    writer = cv2.VideoWriter(video, cv2.VideoWriter_fourcc(*'MJPG'), 10, (320, 240))
    scene = Scene(80, (320, 240))
    for picture in scene:
        writer.write(picture)
    writer.release()
    cameras = tmp_path / 'data-config.json'
    cameras.write_text(json.dumps([{'match': {'id': 'top_live'}, 'handler': {'type': 'video', 'args': {'url': video}}}]))
    words = ('--size', '320x240', '--camera')
    assert run(*words, 'top_live', WAGGLE_DATA_CONFIG_PATH=str(cameras))[:2] == (80, scene.animals)
    done = subprocess.run([sys.executable, os.path.join(HERE, 'objcounter.py'), *words, 'bottom'], stderr=subprocess.PIPE,
                          env=dict(os.environ, WAGGLE_DATA_CONFIG_PATH=str(cameras)), universal_newlines=True)
    assert done.returncode == 1 and 'has no camera bottom' in done.stderr


def test_it_reports_frame_rate_latency_and_objects(tmp_path):
    path = str(tmp_path / 's')
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(1)
    listener.settimeout(10)
    run('--frames', '60', '--size', '320x240', ASSAY_SOCKET=path)
    connection = listener.accept()[0]
    data = b''.join(iter(lambda: connection.recv(65536), b''))
    messages = [json.loads(text) for text in data.decode().split('\n\n') if text]
    count = {name: sum(name in m for m in messages) for name in ('fps', 'latency', 'objects')}
    assert count['latency'] == 60
    assert count['objects'] == 60
    assert count['fps'] >= 1
