# SPDX-License-Identifier: Apache-2.0
"""The recorder's network side: relays and file servers that count bytes, and the clients of servers.

Counters of job number i: [4i] bytes the job received, [4i+1] bytes it sent, [4i+2] good answers, [4i+3] bad ones.
"""
import asyncio
import json
import math
import os
import random


async def pump(reader, writer, count, place):
    try:
        while data := await reader.read(65536):
            count[place] += len(data)
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


def relay(port, count, place):
    async def joined(reader, writer):
        try:
            job_reader, job_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, job_writer, count, place), pump(job_reader, writer, count, place + 1))
    return joined


def files(folder, rate, count, place):
    """A file server that sends at most rate bytes per second, as a link to a far machine would."""
    async def joined(reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            count[place + 1] += len(head)
            name = os.path.basename(head.split()[1].decode())
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            data = b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data
            for i in range(0, len(data), 262144):
                part = data[i:i + 262144]
                writer.write(part)
                await writer.drain()
                count[place] += len(part)
                await asyncio.sleep(len(part) / rate)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
    return joined


def network(jobs, count):
    """Process: one listening socket (job.listener, already bound) for every job that has network."""
    async def main():
        for job in jobs:
            if job.listener is None:
                continue
            if job.pattern:
                joined = relay(job.port, count, 4 * job.number)
            else:
                joined = files(os.path.join(job.dir, "data"), job.rate * 1e6, count, 4 * job.number)
            await asyncio.start_server(joined, sock=job.listener)
        await asyncio.Event().wait()
    asyncio.run(main())


async def ask(job, body, count):
    """One request; True when the server answered at all."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", job.listen_port)
        try:
            writer.write(b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            reply = await asyncio.wait_for(reader.read(-1), 30)
        finally:
            writer.close()
    except (OSError, asyncio.TimeoutError):
        return False
    if not reply.startswith(b"HTTP/"):
        return False
    count[4 * job.number + (2 if b" 200 " in reply[:16] else 3)] += 1
    return True


async def client(job, count, smoke):
    chance = random.Random(job.name)
    body = chance.randbytes(job.bytes)
    while not (job.pattern == "human" or await ask(job, body, count)):
        await asyncio.sleep(0.5)
    begin, open_now = asyncio.get_running_loop().time(), set()

    def later():
        if len(open_now) < 48:
            task = asyncio.create_task(ask(job, chance.randbytes(job.bytes), count))
            open_now.add(task)
            task.add_done_callback(open_now.discard)

    async def closed():
        while True:
            if not await ask(job, chance.randbytes(job.bytes), count):
                await asyncio.sleep(0.5)
            await asyncio.sleep(chance.expovariate(20))

    if job.pattern == "closed":
        await asyncio.gather(*(closed() for _ in range(int(job.rate))))
    elif job.pattern == "human":
        cells, typed = [], 0
        while True:
            try:
                with open(os.path.join(job.dir, "data", "cells.json")) as file:
                    cells = json.load(file)
            except (OSError, ValueError):
                pass
            cell = cells[typed] if typed < len(cells) else chance.choice(cells[1:] or ["pass"])
            if cells and await ask(job, cell.encode(), count):
                typed += 1
                pause = min(25.0, max(2.0, 7 * chance.lognormvariate(0, 0.7)))
                await asyncio.sleep(pause * (0.01 if smoke else 1))
            else:
                await asyncio.sleep(0.5)
    while True:  # open loop: the rate may change with time
        now = asyncio.get_running_loop().time() - begin
        if job.pattern == "bursty":
            await asyncio.sleep(chance.expovariate(1 / 9))
            for _ in range(chance.randint(10, 40)):
                later()
                await asyncio.sleep(chance.expovariate(job.rate))
            continue
        rate = job.rate
        if job.pattern == "sine":
            rate *= max(0.05, 1 + 0.95 * math.sin(2 * math.pi * now / 50))
        await asyncio.sleep(min(5.0, chance.expovariate(rate)))
        later()


def clients(jobs, count, smoke):
    """Process: plays the users of every server."""
    async def main():
        await asyncio.gather(*(client(job, count, smoke) for job in jobs if job.pattern), return_exceptions=True)
    asyncio.run(main())
