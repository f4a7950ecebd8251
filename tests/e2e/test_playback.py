# SPDX-License-Identifier: Apache-2.0
"""A dataset played as cameras and microphones, seen by the clients that apps use."""
import io
import json
import pathlib
import re
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import wave

import cv2
import numpy
import pytest

import data_config_reader
from conftest import BIN

PLAY = str(BIN / "play_dataset")


class Player:
    """play_dataset over a folder."""

    def __init__(self, folder, *streams):
        self.process = subprocess.Popen([PLAY, str(folder / "data"), str(folder / "cache"), *streams], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.config = json.loads(self.process.stdout.readline())
        self.urls = {s["match"]["id"]: s["handler"]["args"]["url"] for s in self.config}

    def stats(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def anonymous_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) * 1024

    def end(self):
        self.process.communicate()
        assert self.process.returncode == 0


@pytest.fixture
def play(tmp_path, monkeypatch):
    players = []

    def start(*streams):
        player = Player(tmp_path, *streams)
        players.append(player)
        path = tmp_path / "data-config.json"
        path.write_text(json.dumps(player.config), encoding="utf-8")
        monkeypatch.setenv("WAGGLE_DATA_CONFIG_PATH", str(path))
        return player

    yield start
    for player in players:
        player.end()


def write_frames(folder, count, ending="jpg"):
    """Frame n is a plain grey of 10 n."""
    (folder / "data").mkdir(exist_ok=True)
    for n in range(1, count + 1):
        cv2.imwrite(str(folder / "data" / f"frame{n}.{ending}"), numpy.full((48, 64, 3), 10 * n, numpy.uint8))


def number_of(frame):
    return round(frame.mean() / 10)


def numbers_of(source):
    """What a video shows, with the times, to its end."""
    seen = []
    while (got := source.get()) is not None:
        seen.append((got[0] / 1e9, number_of(got[1])))
    return seen


def test_a_video_is_seen_by_opencv_at_its_rate(tmp_path, play):
    write_frames(tmp_path, 12)
    play("top_live=video:4:once:")
    seen = numbers_of(data_config_reader.open_data_source(id="top_live"))
    assert [n for _, n in seen] == list(range(1, 13))
    # OpenCV looks at the first frames in advance; those behind come at their time.
    (first, m), (last, n) = seen[5], seen[-1]
    assert (last - first) / (n - m) == pytest.approx(0.25, rel=0.2)


def test_a_video_is_seen_by_urllib_without_drift(tmp_path, play):
    write_frames(tmp_path, 20)
    player = play("top=video:20:loop:")
    times = []
    with urllib.request.urlopen(player.urls["top"], timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("multipart/x-mixed-replace")
        while len(times) < 61:
            assert answer.readline().startswith(b"--")
            length = 0
            while (line := answer.readline().strip()):
                name, _, value = line.partition(b": ")
                length = int(value) if name == b"Content-Length" else length
            frame = cv2.imdecode(numpy.frombuffer(answer.read(length), numpy.uint8), cv2.IMREAD_COLOR)
            answer.readline()
            times.append((time.monotonic(), number_of(frame)))
    # Should the machine have been too busy for a frame, its number tells. It only ever delays them: of many, the least late tell.
    late, frames = [], 0
    for (_, before), (when, behind) in zip(times, times[1:]):
        frames += (behind - before) % 20
        late.append(when - times[0][0] - frames / 20)
    assert min(late[-20:]) == pytest.approx(min(late[:20]), abs=0.05)


def test_images_move_on_with_the_time(tmp_path, play):
    write_frames(tmp_path, 12)
    play("top=image:4:once:")
    source = data_config_reader.open_data_source(id="top")
    begin, last = time.monotonic(), 0
    with pytest.raises(urllib.error.HTTPError) as ended:
        while True:
            _, frame = source.get()
            assert last <= number_of(frame) <= 4 * (time.monotonic() - begin) + 1
            last = number_of(frame)
    assert ended.value.code == 410
    assert last == 12 and time.monotonic() - begin >= 3 - 0.01


def test_videos_and_other_pictures_are_converted(tmp_path, play):
    write_frames(tmp_path, 2, "png")
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=c=0x646464:size=64x48:rate=25:duration=3",
                    tmp_path / "data" / "frame3.mp4"], check=True)
    player = play("top=video:4:once:")
    assert [n for _, n in numbers_of(data_config_reader.open_data_source(id="top"))] == [1, 2] + 12 * [10]
    assert player.stats()["finished"]


def test_each_id_opens_its_own_stream(tmp_path, play):
    write_frames(tmp_path, 5)
    ids = ["top", "top_live", "cam.1", "camx1", "a (b)+"]
    play(*(f"{name}=image:0.001:loop:frame{n}.jpg" for n, name in enumerate(ids, 1)))
    for n, name in enumerate(ids, 1):
        assert number_of(data_config_reader.open_data_source(id=name).get()[1]) == n, name
    assert data_config_reader.url_of_camera("top_live").endswith("/streams/top_live")
    with pytest.raises(LookupError, match="0 streams fit"):
        data_config_reader.open_data_source(id="left")


def test_the_reader_wants_exactly_one_match(tmp_path, monkeypatch):
    path = tmp_path / "config.json"
    handler = {"type": "image", "args": {"url": "http://127.0.0.1:1"}}
    path.write_text(json.dumps([{"match": {"id": "top"}, "handler": handler},
                                {"match": {"id": "t.*", "orientation": "up"}, "handler": handler}]), encoding="utf-8")
    monkeypatch.setenv("WAGGLE_DATA_CONFIG_PATH", str(path))
    with pytest.raises(LookupError, match="2 streams fit"):
        data_config_reader.open_data_source(id="top_live")
    assert data_config_reader.open_data_source(id="top", orientation="up").url == "http://127.0.0.1:1"


def test_sound_comes_as_wav(tmp_path, play):
    (tmp_path / "data").mkdir()
    with wave.open(str(tmp_path / "data" / "a.wav"), "wb") as file:
        file.setparams((2, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(range(250)) * 128)  # one second
    player = play("mic=audio:30:loop:")
    with urllib.request.urlopen(player.urls["mic"] + "/chunk", timeout=10) as answer:
        with wave.open(io.BytesIO(answer.read())) as chunk:
            assert (chunk.getnchannels(), chunk.getsampwidth(), chunk.getframerate()) == (2, 2, 8000)
            assert chunk.getnframes() == 8000
    begin = time.monotonic()
    with urllib.request.urlopen(player.urls["mic"], timeout=10) as answer:
        head = answer.read(44)
        answer.read(2 * 32000)
    assert head[:4] == b"RIFF" and head[8:16] == b"WAVEfmt " and head[36:40] == b"data"
    assert time.monotonic() - begin > 1.8


def connect(url):
    parts = urllib.parse.urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), timeout=30)
    return connection, parts.path


def test_a_client_that_never_asks_is_sent_away(tmp_path, play):
    write_frames(tmp_path, 1)
    player = play("top=image:1:loop:")
    silent, _ = connect(player.urls["top"])
    slow, _ = connect(player.urls["top"])
    slow.sendall(b"GET /streams/top HTT")
    begin = time.monotonic()
    assert silent.recv(1) == b"" and slow.recv(1) == b""
    assert 5 < time.monotonic() - begin < 20
    assert number_of(data_config_reader.open_data_source(id="top").get()[1]) == 1


def test_clients_that_do_not_read_cost_no_memory(tmp_path, play):
    (tmp_path / "data").mkdir()
    frame = b"\xff\xd8\xff" + bytes(2 << 20) + b"\xff\xd9"
    for n in range(50):
        (tmp_path / "data" / f"{n}.jpg").write_bytes(frame)
    player = play("top=video:50:once:")
    before = player.anonymous_bytes()
    stalled = []
    for _ in range(40):
        connection, path = connect(player.urls["top"])
        connection.sendall(f"GET {path} HTTP/1.1\r\n\r\n".encode())
        stalled.append(connection)
    with urllib.request.urlopen(player.urls["top"], timeout=10) as answer:
        while answer.read(1 << 20):
            pass
    assert player.stats()["finished"]
    assert player.anonymous_bytes() - before < 8 << 20
    for connection in stalled:
        connection.close()
