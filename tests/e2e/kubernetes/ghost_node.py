# SPDX-License-Identifier: Apache-2.0
"""A node that is only an object: its pods are bound by the scheduler, and run as the test says."""
import json
import time

from conftest import wait_until

NAME = "ghost"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class GhostNode:
    def __init__(self, cluster, labels, cpu="4"):
        self.cluster = cluster
        amounts = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
        self.node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NAME, "labels": labels},
                     "status": {"capacity": amounts, "allocatable": amounts}}
        self.cluster.kubectl("create", "-f", "-", text=json.dumps(self.node))
        try:
            wait_until(self.is_open, 120, lambda: f"pods may come: {self.cluster.json('node', NAME)}", every=1)
        except BaseException:
            self.remove()
            raise

    def is_open(self):
        """New nodes are tainted until the cluster has seen that they are ready, which it may forget of a silent one."""
        self.say("True")
        return not self.cluster.json("node", NAME)["spec"].get("taints")

    def say(self, ready):
        """What a kubelet tells of itself again and again: the cluster thinks a silent one lost."""
        self.node["status"]["conditions"] = [{"type": "Ready", "status": ready, "reason": "Test", "lastHeartbeatTime": now(),
                                              "lastTransitionTime": now()}]
        self._replace(f"/api/v1/nodes/{NAME}/status", self.node)

    def pod(self):
        """The one of a trial that it got; it is alive until then."""
        self.say("True")
        pods = self.cluster.json("pods", "-l", "assay.trial", "--field-selector", f"spec.nodeName={NAME}")["items"]
        return pods[0] if pods else None

    def run(self, pod):
        """As if its containers had started."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        pod["metadata"].pop("resourceVersion", None)
        pod["status"] = {"phase": "Running", "startTime": now(), "conditions": [{"type": "Ready", "status": "True"}],
                         "containerStatuses": [{"name": one["name"], "image": one["image"], "imageID": "", "ready": True,
                                                "restartCount": 0, "containerID": "docker://" + 64 * "0",
                                                "state": {"running": {"startedAt": now()}}}
                                               for one in pod["spec"]["containers"]]}
        self._replace(f"/api/v1/namespaces/{namespace}/pods/{name}/status", pod)

    def remove(self):
        self.cluster.kubectl("delete", "node", NAME, "--ignore-not-found")

    def _replace(self, path, what):
        self.cluster.kubectl("replace", "--raw", path, "-f", "-", text=json.dumps(what))
