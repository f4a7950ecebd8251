# SPDX-License-Identifier: Apache-2.0
"""What others may do to the agent: it stays up, small, and answers."""
import concurrent.futures
import json
import socket

import pytest
from agents import MB, Agent
from conftest import wait_until


@pytest.fixture
def agent(tmp_path):
    (tmp_path / "agent.yaml").write_text("interval: 100ms\nown_share: 0\n")
    agent = Agent(tmp_path, None, "--config", tmp_path / "agent.yaml")
    yield agent
    agent.end()


def connect(agent):
    return socket.create_connection(agent.address.split(":"), timeout=10)


def beats(agent):
    return agent.value("assay_agent_beats_total")


def test_a_hundred_clients_at_once_are_all_answered(agent):
    def ask(_):
        return [agent.ask("GET", path)[0] for path in ("/metrics", "/api/v1/apps", "/healthz")]
    before = beats(agent)
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        statuses = [status for each in pool.map(ask, range(100)) for status in each]
    assert statuses == [200] * 300
    wait_until(lambda: beats(agent) > before, 10, "it measures on")
    assert agent.resident() < 60 * MB


def test_connections_that_ask_nothing_are_bounded(agent):
    clients = [connect(agent) for _ in range(400)]
    try:
        refused = wait_until(lambda: [c for c in clients if is_answered(c)], 10, "those beyond the bound are told")
        assert b" 503 " in refused[0].recv(4096)
    finally:
        for client in clients:
            client.close()
    wait_until(lambda: agent.ask("GET", "/healthz")[0] == 200, 10, "there is room again")
    assert agent.resident() < 60 * MB


def is_answered(client):
    client.setblocking(False)
    try:
        return bool(client.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False


GARBAGE = [
    b"\x00\xff\x16\x03\x01 nonsense\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET /metrics HTTP/9.9\r\n\r\n",
    b"PUT /api/v1/goals HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
    b"PUT /api/v1/goals HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"PUT /api/v1/goals HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_ends_its_own_connection(agent, garbage):
    with connect(agent) as client:
        client.sendall(garbage)
        answer = b""
        try:
            while piece := client.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass  # it did not want to read all of it
    assert b" 200 " not in answer
    assert agent.get("/healthz") == "ok\n"


def test_half_requests_wait_without_cost(agent):
    clients = [connect(agent) for _ in range(100)]
    try:
        for client in clients:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: local")
        before = beats(agent)
        wait_until(lambda: beats(agent) > before + 2, 10, "it goes on")
        assert agent.resident() < 60 * MB
        for client in clients:
            client.sendall(b"host\r\n\r\n")
            assert client.recv(12) == b"HTTP/1.1 200", "each is answered once it is whole"
    finally:
        for client in clients:
            client.close()


def test_who_does_not_read_the_stream_costs_no_memory(agent):
    # A table of some 100 kB: after a few of them the kernel takes no more for who does not read.
    lines = b"".join(json.dumps({f"name{i}": {"value": i, "timestamp": 1700000000}}).encode() + b"\n\n" for i in range(900))
    clients = []
    with socket.socket(socket.AF_UNIX) as app:
        app.connect(str(agent.hooks))
        app.sendall(lines)
        wait_until(lambda: "name899" in agent.get("/api/v1/apps"), 10, "it reports")
        try:
            for _ in range(50):
                client = socket.socket(socket.AF_UNIX)
                client.connect(str(agent.socket))
                client.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: x\r\n\r\n")
                clients.append(client)
            resident = agent.resident()
            before = beats(agent)
            wait_until(lambda: beats(agent) > before + 15, 20, "the beat goes on")
            assert agent.resident() < resident + 20 * MB
        finally:
            for client in clients:
                client.close()
    assert agent.get("/healthz") == "ok\n"
