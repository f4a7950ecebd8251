# SPDX-License-Identifier: Apache-2.0
"""A Job whose speed is in proportion to its CPUs, for trials, and what trials leave in a cluster."""
from conftest import wait_until

# Each step is the same work, so that steps per second are in proportion to the CPU time that it is given.
STEPS = 'i=0; while :; do n=0; while [ $n -lt 4000 ]; do n=$((n+1)); done; i=$((i+1)); echo step $i; done'
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: steps, labels: {app: steps}}
spec:
  template:
    metadata: {labels: {app: steps}}
    spec:
      restartPolicy: OnFailure
      terminationGracePeriodSeconds: 1  # a shell does not hear that it should end
      containers:
      - name: main
        image: busybox:1
        command: [sh, -c, 'STEPS']
""".replace("STEPS", STEPS)


def measured(seconds="20s", patience="120s"):
    return ["--resource", "cpu", "--log-pattern", "step ([0-9]+)", "--log-counts", "--for", seconds, "--warm-up", "2s",
            "--patience", patience]


def left(cluster, what="jobs", namespace="default"):
    return cluster.kubectl("get", what, "-n", namespace, "-l", "assay.trial", "-o", "name").split()


def gone(cluster, what="jobs"):
    """The cluster ends what was deleted, in its own time."""
    wait_until(lambda: not left(cluster, what) and not left(cluster, "pods"), 240, "nothing is left", every=0.2)
