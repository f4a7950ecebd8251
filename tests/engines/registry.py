# SPDX-License-Identifier: Apache-2.0
"""A registry on this machine with one image of one layer, for engines to pull from; Docker trusts 127.0.0.1 without
TLS. It hands out the layer as slowly as a test wants, and can break off in the middle."""
import contextlib
import gzip
import hashlib
import http.server
import json
import threading

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
NAME = "test/pulled"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Registry:
    """`go` lets the second half of the layer out; with `breaks`, it never comes."""

    def __init__(self, root, breaks=False):
        self.breaks, self.half_sent, self.go = breaks, threading.Event(), threading.Event()
        self.layer = gzip.compress(root, 1)
        config = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Cmd": ["/bin/true"]},
                             "rootfs": {"type": "layers", "diff_ids": [digest(root)]}}).encode()
        self.blobs = {digest(config): config, digest(self.layer): self.layer}
        self.manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "size": len(config), "digest": digest(config)},
            "layers": [{"mediaType": LAYER, "size": len(self.layer), "digest": digest(self.layer)}]}).encode()

    def found(self, path):
        """The type and the bytes at a path; no bytes: there is nothing."""
        kind, _, name = path.removeprefix(f"/v2/{NAME}/").partition("/")
        if path == "/v2/":
            return "application/json", b"{}"
        if kind == "manifests":
            return MANIFEST, self.manifest
        return "application/octet-stream", self.blobs.get(name, b"")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def _head(self):
        kind, data = self.server.registry.found(self.path)
        self.send_response(200 if data else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Docker-Content-Digest", digest(data))
        self.end_headers()
        return data

    do_HEAD = _head

    def do_GET(self):
        data, registry = self._head(), self.server.registry
        if data is not registry.layer:
            self.wfile.write(data)
            return
        half = len(data) // 2
        self.wfile.write(data[:half])
        self.wfile.flush()
        registry.half_sent.set()
        if registry.breaks:
            self.close_connection = True
            return
        registry.go.wait()
        with contextlib.suppress(OSError):  # whoever pulled may have given up
            self.wfile.write(data[half:])


@contextlib.contextmanager
def serving(registry):
    """Gives the name of the image there."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads, server.registry = True, registry
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}/{NAME}:1"
    finally:
        registry.go.set()
        server.shutdown()
        server.server_close()
