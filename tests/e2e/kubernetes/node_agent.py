# SPDX-License-Identifier: Apache-2.0
"""The agent of a node of the cluster for tests, in a pod that wants a token, and an image of programs that it can measure."""
import io
import json
import pathlib
import re
import tarfile

from conftest import BIN, KNOWN_LOAD, wait_until

TOKEN = "a-token-of-the-agents-test"
# The agent of this build, which needs this machine's libraries; else as deploy/kubernetes has it.
AGENT = """
apiVersion: v1
kind: Pod
metadata: {name: POD, namespace: assay, labels: {app.kubernetes.io/name: assay-agent}}
spec:
  nodeName: NODE
  hostPID: true
  hostNetwork: true
  terminationGracePeriodSeconds: 1
  containers:
  - name: agent
    image: busybox:1
    command: [chroot, /host, BIN/assay-agent, --config, FOLDER/agent.yaml]
    securityContext: {capabilities: {add: [SYS_NICE, SYS_PTRACE]}}
    readinessProbe: {httpGet: {path: /readyz, port: 9410}, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 30}
    volumeMounts: [{name: host, mountPath: /host}]
  volumes: [{name: host, hostPath: {path: /}}]
"""


def start(cluster, folder):
    """Returns when it is ready; gives the folder of its socket for what apps report. It stays for the tests that follow."""
    if not cluster.hooks:
        wait_until(lambda: not cluster.names("namespace", "assay"), 180, "that of tests before is gone")
        cluster.kubectl("create", "namespace", "assay")
        cluster.kubectl("create", "secret", "generic", "assay-reader", "-n", "assay", f"--from-literal=token={TOKEN}")
        node = cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
        cluster.hooks = add(cluster, folder, "agent", node)
    return cluster.hooks


def add(cluster, folder, pod, node):
    """One more, of that node. All nodes are this machine: each agent has its node's address."""
    address, = (one["address"] for one in cluster.json("node", node)["status"]["addresses"] if one["type"] == "InternalIP")
    folder.chmod(0o755)
    (folder / "token").write_text(TOKEN)
    (folder / "token").chmod(0o600)
    (folder / "hooks").mkdir()
    (folder / "agent.yaml").write_text(json.dumps({
        "listen": f"{address}:9410", "hooks": str(folder / "hooks/live_metrics.sock"), "docker": "", "own_share": 0,
        "tokens": [{"file": "token", "roles": ["read"]}]}))
    words = {"BIN": str(BIN), "FOLDER": str(folder), "POD": pod, "NODE": node}
    cluster.kubectl("create", "-f", "-", text=re.sub("|".join(words), lambda found: words[found[0]], AGENT))
    cluster.kubectl("wait", "--for=condition=Ready", f"pod/{pod}", "-n", "assay", "--timeout=120s", timeout=130)
    return str(folder / "hooks")


def stop(cluster):
    """Whoever needs its namespace or its port calls it first."""
    if cluster.hooks:
        cluster.kubectl("delete", "namespace", "assay", timeout=180)
        cluster.hooks = None


def image_of(*programs):
    """A tar of programs that need nothing else."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for program in programs:
            tar.add(program, f"bin/{pathlib.Path(program).name}")
        tmp = tarfile.TarInfo("tmp")
        tmp.type = tarfile.DIRTYPE
        tar.addfile(tmp)
    return out.getvalue()


def add_load_image(cluster):
    """load:1 has loads of a known size, and busybox."""
    cluster.add_image("load:1", image_of(KNOWN_LOAD, BIN / "frames_load", "/usr/bin/busybox"), "ENV PATH=/bin")


def is_used(seconds, measured, run):
    """Whether what was measured of a run is these CPU seconds. An agent that was late at its end knows of a second less, and says so."""
    missed = any(gap["what"] == "end of the app" for gap in run["not_measured"])
    slack = 1 if missed else 0
    # What starts a container is in its group, too.
    return max(0, 0.85 * seconds - slack) < measured < 1.15 * seconds + max(slack, 0.2)
