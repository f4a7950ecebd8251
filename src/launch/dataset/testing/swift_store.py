#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real object store for tests: OpenStack Swift with its S3 interface, on loopback, in a folder of its own.

    swift_store.py OBJECTS

Puts the objects ({"bucket/key": "content"}, a JSON file) there with botocore, prints
{"endpoint", "access_key", "secret_key", "region"} as one line and serves until its stdin closes.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import pwd
import random
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

HERE = pathlib.Path(__file__).resolve().parent
USER, KEY, REGION = "test:tester", "testing", "us-east-1"
PAGE = 3  # objects in one answer to a listing, so that a few make several pages
SERVERS = ("account", "container", "object")


class LocalCache:
    """What Swift keeps in memcached, for one process."""

    def __init__(self, app):
        self.app = app
        self.values = {}

    def __call__(self, env, start_response):
        env["swift.cache"] = self
        return self.app(env, start_response)

    def get(self, key, *_, **__):
        return self.values.get(key)

    def set(self, key, value, *_, **__):
        self.values[key] = value

    def delete(self, key, *_, **__):
        self.values.pop(key, None)


def cache_factory(_global_conf, **_conf):
    return LocalCache


def free_ports(count):
    """None that the kernel gives away by itself, which somebody else might have by the time it is taken."""
    found = []
    for port in random.sample(range(20000, 30000), 1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            break
    return found


def write_rings(folder, ports):
    from swift.common import utils
    utils.set_swift_dir(str(folder))
    from swift.common.ring import RingBuilder
    for name, port in ports.items():
        builder = RingBuilder(part_power=1, replicas=1, min_part_hours=0)
        builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "d1", "weight": 1})
        builder.rebalance()
        builder.get_ring().save(str(folder / f"{name}.ring.gz"))


def default_section(folder, port):
    return textwrap.dedent(f"""\
        [DEFAULT]
        bind_ip = 127.0.0.1
        bind_port = {port}
        workers = 0
        swift_dir = {folder}
        devices = {folder}/devices
        mount_check = false
        user = {pwd.getpwuid(os.geteuid()).pw_name}
        log_address = {folder}/no-log
        disable_fallocate = true
        """)


def write_confs(folder, ports, proxy_port):
    (folder / "swift.conf").write_text(textwrap.dedent("""\
        [swift-hash]
        swift_hash_path_prefix = a
        swift_hash_path_suffix = b
        [storage-policy:0]
        name = only
        default = yes
        """))
    for name, port in ports.items():
        (folder / f"{name}.conf").write_text(default_section(folder, port) + textwrap.dedent(f"""\
            [pipeline:main]
            pipeline = {name}-server
            [app:{name}-server]
            use = egg:swift#{name}
            """))
    (folder / "proxy.conf").write_text(default_section(folder, proxy_port) + textwrap.dedent(f"""\
        [pipeline:main]
        pipeline = catch_errors gatekeeper local_cache s3api tempauth slo dlo proxy-server
        [app:proxy-server]
        use = egg:swift#proxy
        account_autocreate = true
        [filter:local_cache]
        paste.filter_factory = swift_store:cache_factory
        [filter:tempauth]
        use = egg:swift#tempauth
        user_test_tester = {KEY} .admin
        [filter:s3api]
        use = egg:swift#s3api
        location = {REGION}
        max_bucket_listing = {PAGE}
        [filter:catch_errors]
        use = egg:swift#catch_errors
        [filter:gatekeeper]
        use = egg:swift#gatekeeper
        [filter:slo]
        use = egg:swift#slo
        [filter:dlo]
        use = egg:swift#dlo
        """))


def serve(folder, name):
    """One server of Swift; a process of its own, because Swift patches the whole interpreter."""
    from swift.common import utils
    from swift.common.wsgi import run_wsgi
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with its owner
    utils.set_swift_dir(folder)
    return run_wsgi(f"{folder}/{name}.conf", f"{name}-server")


def start(folder, name):
    with open(folder / f"{name}.out", "wb") as out:
        return subprocess.Popen([sys.executable, __file__, "--serve", str(folder), name], stdin=subprocess.DEVNULL,
                                stdout=out, stderr=out, env={**os.environ, "PYTHONPATH": str(HERE)})


def wait_until_it_listens(port, process):
    while process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise SystemExit(f"a server of Swift ended with {process.returncode}")


def client_of(endpoint):
    import botocore.config
    import botocore.session
    session = botocore.session.Session()
    session.set_credentials(USER, KEY)
    config = botocore.config.Config(s3={"addressing_style": "path"})
    return session.create_client("s3", region_name=REGION, endpoint_url=endpoint, config=config)


def fill(endpoint, objects):
    client = client_of(endpoint)
    for bucket in sorted({name.split("/")[0] for name in objects}):
        client.create_bucket(Bucket=bucket)
    for name, content in objects.items():
        bucket, key = name.split("/", 1)
        client.put_object(Bucket=bucket, Key=key, Body=content.encode())


def main(objects_file):
    objects = json.loads(pathlib.Path(objects_file).read_text(encoding="utf-8"))
    *server_ports, proxy_port = free_ports(4)
    ports = dict(zip(SERVERS, server_ports))
    with tempfile.TemporaryDirectory(prefix="assay-swift-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        (folder / "devices" / "d1").mkdir(parents=True)
        write_confs(folder, ports, proxy_port)
        write_rings(folder, ports)
        processes = {port: start(folder, server) for server, port in {**ports, "proxy": proxy_port}.items()}
        for process in processes.values():
            stack.callback(process.wait)
            stack.callback(process.kill)
        for port, process in processes.items():
            wait_until_it_listens(port, process)
        endpoint = f"http://127.0.0.1:{proxy_port}"
        fill(endpoint, objects)
        print(json.dumps({"endpoint": endpoint, "access_key": USER, "secret_key": KEY, "region": REGION}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        sys.exit(serve(*sys.argv[2:]))
    main(sys.argv[1])
