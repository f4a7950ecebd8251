# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes for tests: one for all of them, started when the first one asks for it (see cluster.sh)."""
import base64
import json
import pathlib
import ssl
import subprocess
import time
import urllib.request

import pytest

CLUSTER = str(pathlib.Path(__file__).parent / "cluster.sh")
NODE_ADDRESS = "172.31.240.1"  # of the bridge that pods are at


class Cluster:
    def __init__(self):
        subprocess.run([CLUSTER, "up"], check=True, timeout=300)
        printed = subprocess.run(["bash", "-c", f"eval \"$({CLUSTER} env)\"; env -0"], check=True, capture_output=True,
                                 text=True).stdout
        self.env = dict(entry.split("=", 1) for entry in printed.split("\0") if entry)
        self.hooks = None  # of the agent in it, see node_agent.py

    def kubectl(self, *words, text=None, timeout=60):
        done = self.try_kubectl(*words, text=text, timeout=timeout)
        assert done.returncode == 0, f"kubectl {' '.join(words)}: {done.stderr}"
        return done.stdout

    def try_kubectl(self, *words, text=None, timeout=60):
        return subprocess.run(["kubectl", *words], env=self.env, input=text, check=False, capture_output=True, text=True,
                              timeout=timeout)

    def json(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json"))

    def names(self, *words):
        """Of the objects that `kubectl get` finds: kind/name."""
        return self.kubectl("get", *words, "-o", "name", "--ignore-not-found").split()

    def give_gpus(self, product, count):
        """To the first node, as the cluster counts them; gives its name."""
        name = self.json("nodes")["items"][0]["metadata"]["name"]
        self.kubectl("label", "node", name, f"nvidia.com/gpu.product={product}", "--overwrite")
        patch = [{"op": "add", "path": "/status/capacity/nvidia.com~1gpu", "value": str(count)}]
        request = urllib.request.Request(
            f"{self.env['APISERVER']}/api/v1/nodes/{name}/status", method="PATCH", data=json.dumps(patch).encode(),
            headers={"Content-Type": "application/json-patch+json", "Authorization": f"Bearer {self.env['TOKEN']}"})
        trust = ssl.create_default_context(cafile=self.env["CACERT"])
        with urllib.request.urlopen(request, timeout=30, context=trust):
            pass
        deadline = time.monotonic() + 60
        while self.json("node", name)["status"]["allocatable"].get("nvidia.com/gpu") != str(count):
            assert time.monotonic() < deadline, "the kubelet does not take them over"
            time.sleep(0.2)
        return name

    def token(self, account, namespace="default"):
        """What the cluster has made for a service account."""
        deadline = time.monotonic() + 30
        while not (secrets := self.json("serviceaccount", account, "-n", namespace).get("secrets")):
            assert time.monotonic() < deadline, f"{account} has no token"
            time.sleep(0.1)
        secret = self.json("secret", secrets[0]["name"], "-n", namespace)
        return base64.b64decode(secret["data"]["token"]).decode()

    def account(self, name):
        """A new service account's token; it may do nothing yet."""
        self.kubectl("create", "serviceaccount", name)
        return self.token(name)

    def may(self, account, verb, what, *more):
        """Whether a service account, "namespace:name", may do it."""
        done = self.try_kubectl("auth", "can-i", verb, what, "-q", f"--as=system:serviceaccount:{account}", *more)
        assert not done.stderr.startswith("error"), done.stderr
        return done.returncode == 0

    def call(self, word, timeout=120):
        """What cluster.sh prints."""
        return subprocess.run([CLUSTER, word], check=True, timeout=timeout, capture_output=True, text=True).stdout.strip()

    def wait_for_controllers(self):
        """Until pods of Jobs are made, find a node and go with their Job: after an API server was away, those who do that ask it
        ever less often."""
        self.kubectl("create", "job", "controllers-are-back", "--image=none:1")
        deadline = time.monotonic() + 180
        try:
            while not any(pod["spec"].get("nodeName") for pod in self.json("pods", "-l", "job-name=controllers-are-back")["items"]):
                assert time.monotonic() < deadline, "no pod is made, or it finds no node"
                time.sleep(0.2)
        finally:
            self.end_job("controllers-are-back")

    def wait_for_quota(self, name, namespace):
        """Until it is kept: what it allows is first to be read by the cluster itself."""
        deadline = time.monotonic() + 60
        while not self.json("quota", name, "-n", namespace)["status"].get("hard"):
            assert time.monotonic() < deadline, "nobody looks at the quota"
            time.sleep(0.2)

    def end_job(self, name):
        """And its pods: the room that they held is free afterwards, which on a busy machine may take a minute."""
        self.kubectl("delete", "job", name, "--cascade=foreground", timeout=180)

    def leaving(self):
        """Pods that are being removed, or whose Job or set is gone: they hold their room until the cluster comes to them."""
        found = self.json("pods,jobs,statefulsets")["items"]
        there = {one["metadata"]["uid"] for one in found}
        return [one["metadata"]["name"] for one in found if one["kind"] == "Pod" and (
            "deletionTimestamp" in one["metadata"] or any(
                owner["kind"] in ("Job", "StatefulSet") and owner["uid"] not in there
                for owner in one["metadata"].get("ownerReferences", [])))]

    def end_pod(self, name, namespace="default"):
        self.kubectl("delete", "pod", name, "-n", namespace, "--wait=false")

    def add_image(self, name, layer, *changes):
        """An image of one layer, the bytes of a tar, among those of the node."""
        words = [word for change in changes for word in ("-c", change)]
        subprocess.run(["docker", "import", *words, "-", name], env=self.env, input=layer, check=True, capture_output=True,
                       timeout=120)


@pytest.fixture(scope="session")
def cluster():
    try:
        yield Cluster()
    finally:
        subprocess.run([CLUSTER, "down"], check=True, timeout=300)


@pytest.fixture(autouse=True)
def room(request):
    """A test finds the room that the one before it had, however late the cluster's own collector is."""
    if "cluster" not in request.fixturenames:
        return
    cluster = request.getfixturevalue("cluster")
    deadline = time.monotonic() + 180
    while leaving := cluster.leaving():
        assert time.monotonic() < deadline, f"of tests before are still there: {leaving}"
        time.sleep(0.2)
