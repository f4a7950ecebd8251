# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus is built without the discovery of Kubernetes. Its image for the tests asks this instead, over
Prometheus's own HTTP discovery, and gets the same targets and labels from the real API, as the same service account.
So all but that part of Prometheus is real: configuration, relabelling, tokens, scraping."""
import http.server
import io
import json
import re
import ssl
import tarfile
import threading
import urllib.parse
import urllib.request

import images
from clusters import NODE_ADDRESS

PORT = 9099
# Takes the place of /bin/prometheus: what kubernetes_sd_configs says becomes an address here, and waiting is shorter.
WRAPPER = """#!/bin/sh
here=http://ADDRESS
to_here() { # ROLE-AND-MORE-PATTERN QUERY
  echo "s#kubernetes_sd_configs: .*role: $1.*#http_sd_configs: [{url: '$here/$2', refresh_interval: 2s}]#"
}
[ "$1" = --config.file=/etc/prometheus/prometheus.yml ] || exit 2
shift
sed -E -e "$(to_here '([a-z]+), .*names: \\[([a-z-]+)\\]' '\\1?namespace=\\2')" -e "$(to_here '([a-z]+)' '\\1')" \
  -e 's#scrape_interval: 15s#scrape_interval: 2s#' /etc/prometheus/prometheus.yml > /prometheus/prometheus.yml
exec /usr/bin/prometheus.real --config.file=/prometheus/prometheus.yml "$@"
""".replace("ADDRESS", f"{NODE_ADDRESS}:{PORT}")


def prometheus_root():
    """The bytes of a tar: Debian's Prometheus behind the wrapper, a shell for that, and its page."""
    made = io.BytesIO(images.worker_root("/usr/bin/prometheus", "prometheus.real", busybox=("sh", "sed")))
    with tarfile.open(fileobj=made, mode="a") as tar:
        entry = tarfile.TarInfo("usr/bin/prometheus")
        entry.size, entry.mode = len(WRAPPER), 0o755
        tar.addfile(entry, io.BytesIO(WRAPPER.encode()))
        tar.add("/usr/share/prometheus", "usr/share/prometheus")
    return made.getvalue()


def _labels(prefix, values):
    labels = {}
    for name, value in (values or {}).items():
        name = re.sub(r"[^a-zA-Z0-9_]", "_", name)
        labels[f"{prefix}_{name}"] = value
        labels[f"{prefix}present_{name}"] = "true"
    return labels


def node_targets(node):
    prefix, metadata = "__meta_kubernetes_node", node["metadata"]
    addresses = {entry["type"]: entry["address"] for entry in reversed(node["status"].get("addresses", []))}
    if "InternalIP" not in addresses:
        return []
    port = node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    labels = {f"{prefix}_name": metadata["name"], "instance": metadata["name"],
              **{f"{prefix}_address_{kind}": address for kind, address in addresses.items()},
              **_labels(f"{prefix}_label", metadata.get("labels")),
              **_labels(f"{prefix}_annotation", metadata.get("annotations"))}
    return [{"targets": [f"{addresses['InternalIP']}:{port}"], "labels": labels}]


def pod_targets(pod):
    """One per declared port of a container, one without a port for a container that declares none."""
    prefix, metadata, status = "__meta_kubernetes_pod", pod["metadata"], pod["status"]
    if not status.get("podIP"):
        return []
    ready = next((entry["status"].lower() for entry in status.get("conditions", []) if entry["type"] == "Ready"), "unknown")
    common = {"__meta_kubernetes_namespace": metadata["namespace"], f"{prefix}_name": metadata["name"],
              f"{prefix}_ip": status["podIP"], f"{prefix}_ready": ready, f"{prefix}_phase": status["phase"],
              f"{prefix}_node_name": pod["spec"].get("nodeName", ""), f"{prefix}_host_ip": status.get("hostIP", ""),
              f"{prefix}_uid": metadata["uid"], **_labels(f"{prefix}_label", metadata.get("labels")),
              **_labels(f"{prefix}_annotation", metadata.get("annotations"))}
    found = []
    for container in pod["spec"]["containers"]:
        named = {**common, f"{prefix}_container_name": container["name"], f"{prefix}_container_image": container["image"]}
        for port in container.get("ports", []):
            found.append({"targets": [f"{status['podIP']}:{port['containerPort']}"], "labels": {
                **named, f"{prefix}_container_port_name": port.get("name", ""),
                f"{prefix}_container_port_number": str(port["containerPort"]),
                f"{prefix}_container_port_protocol": port.get("protocol", "TCP")}})
        if not container.get("ports"):
            found.append({"targets": [status["podIP"]], "labels": named})
    return found


class Discovery:
    """Serves /pod and /node until it is closed; `token` gives its account's."""

    def __init__(self, cluster, token):
        outer = self
        self._api, self._token = cluster.env["APISERVER"], token
        self._trust = ssl.create_default_context(cafile=cluster.env["CACERT"])

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                try:
                    status, body = 200, json.dumps(outer.targets(self.path)).encode()
                except (OSError, AssertionError) as error:  # Prometheus keeps what it knew
                    status, body = 503, str(error).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer((NODE_ADDRESS, PORT), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def targets(self, path):
        asked = urllib.parse.urlparse(path)
        namespace = urllib.parse.parse_qs(asked.query).get("namespace", [""])[0]
        role = asked.path.strip("/")
        listed = f"{self._api}/api/v1/" + (f"namespaces/{namespace}/" if namespace else "") + f"{role}s"
        request = urllib.request.Request(listed, headers={"Authorization": f"Bearer {self._token()}"})
        with urllib.request.urlopen(request, timeout=10, context=self._trust) as answer:
            items = json.load(answer)["items"]
        return [target for item in items for target in (node_targets if role == "node" else pod_targets)(item)]

    def close(self):
        self._server.shutdown()
        self._server.server_close()
