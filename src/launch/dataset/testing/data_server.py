#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An HTTP or HTTPS server of files that can also misbehave, for tests.

    data_server.py FOLDER [--tls]

Prints {"port", "ca"} as one line and serves until its stdin closes. FOLDER/log gets a line "PATH RANGE STATUS" for
each request. The first part of a path says how FOLDER/NAME is served:

    /plain/NAME         with ETag and ranges
    /norange/NAME       without both
    /cut/BYTES/NAME     as plain, but each answer breaks off after so many bytes
    /cutnorange/BYTES/NAME
    /nolength/NAME      its length is not told
    /stall/BYTES/NAME   the first answer says nothing more after so many bytes
    /changed/BYTES/NAME the first answer breaks off, later ones are of NAME.new
    /blind/BYTES/NAME   the same, and the rest is sent without a look at If-Range
    /late/COUNT/NAME    the first answers are 503
    /redirect/NAME      to /plain/NAME
    /forbidden          403
"""
import collections
import functools
import http.server
import json
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import zlib


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = collections.Counter()

    def __init__(self, folder, *args):
        self.folder = folder
        super().__init__(*args)

    def log_message(self, *_):
        pass

    def note(self, status):
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            log.write(f"{self.path} {self.headers.get('Range', '-')} {status}\n")

    def refuse(self, status, **headers):
        self.note(status)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        kind, *rest = urllib.parse.urlparse(self.path).path.strip("/").split("/")
        self.seen[self.path] += 1
        if kind == "forbidden":
            return self.refuse(403)
        name, number = rest[-1], int(rest[0]) if len(rest) > 1 else None
        if kind == "redirect":
            return self.refuse(302, Location=f"/plain/{name}")
        if kind == "late" and self.seen[self.path] <= number:
            return self.refuse(503)
        if kind in ("changed", "blind", "stall") and self.seen[self.path] > 1:
            name, number = name + ("" if kind == "stall" else ".new"), None
        if not (self.folder / name).is_file():
            return self.refuse(404)
        self.serve(kind, (self.folder / name).read_bytes(), number if kind != "late" else None)

    def serve(self, kind, content, number):
        tag = None if "norange" in kind else f'"{zlib.crc32(content):x}"'
        begin = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if tag and asked and (kind == "blind" or self.headers.get("If-Range") == tag):
            begin = int(asked[1])
            if begin >= len(content):
                return self.refuse(416, Content_Range=f"bytes */{len(content)}")
        self.note(206 if begin else 200)
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        if tag:
            self.send_header("ETag", tag)
        if kind == "nolength":
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        self.wfile.write(content[begin:][:number])
        self.wfile.flush()
        if kind == "stall" and number is not None:
            self.rfile.read(1)
        if number is not None:
            self.close_connection = True
        return None


def make_certificates(folder):
    """A self-signed certificate of 127.0.0.1 that is its own authority."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=assay-test", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", f"{folder}/key.pem", "-out", f"{folder}/ca.pem"], check=True, capture_output=True)


def main(folder, tls):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, folder))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # clients that go are part of the tests
    with tempfile.TemporaryDirectory(prefix="assay-data-server-") as certificates:
        if tls:
            make_certificates(certificates)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(f"{certificates}/ca.pem", f"{certificates}/key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(json.dumps({"port": server.server_address[1], "ca": f"{certificates}/ca.pem"}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), "--tls" in sys.argv)
