# SPDX-License-Identifier: Apache-2.0
"""Training jobs of Kubeflow for tests: their kinds, as the real operators define them as far as anybody here reads them, and
the operator's part, which the tests play: an MPIJob or PyTorchJob gets its pods, with the names, labels and owners that
they would have.

The kinds keep whatever a job says (`x-kubernetes-preserve-unknown-fields`); what is validated is what the operators need.
"""
import json
import time

KEEP = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
IMAGE = "busybox:1"


def _schema(replicas):
    """`spec` has to have `replicas`; the rest is kept as it is."""
    spec = {**KEEP, "required": [replicas], "properties": {replicas: {"type": "object", "additionalProperties": KEEP}}}
    return {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": KEEP}}}


def _kind(kind, replicas, versions):
    """The definition of a kind; the last version is the one that is stored."""
    plural = kind.lower() + "s"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.kubeflow.org"},
            "spec": {"group": "kubeflow.org", "scope": "Namespaced",
                     "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
                     "conversion": {"strategy": "None"},
                     "versions": [{"name": version, "served": True, "storage": version == versions[-1],
                                   "subresources": {"status": {}}, "schema": _schema(replicas)} for version in versions]}}


KINDS = {"MPIJob": _kind("MPIJob", "mpiReplicaSpecs", ["v1", "v2beta1"]),
         "PyTorchJob": _kind("PyTorchJob", "pytorchReplicaSpecs", ["v1"])}


def define_kinds(cluster):
    """Makes both kinds known, also when they are already."""
    cluster.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(KINDS.values())}))
    for definition in KINDS.values():
        cluster.kubectl("wait", "--for=condition=established", f"crd/{definition['metadata']['name']}", "--timeout=50s")
    deadline = time.monotonic() + 120  # established is a moment before served
    while len(cluster.kubectl("api-resources", "--api-group=kubeflow.org", "-o", "name").split()) < len(KINDS):
        assert time.monotonic() < deadline, "the kinds are not served"
        time.sleep(0.2)


def remove_kinds(cluster):
    """And all jobs of them with their pods: of a kind that is gone, the cluster's collector may no longer find whose they are."""
    names = cluster.names("crd", *(definition["metadata"]["name"] for definition in KINDS.values()))
    if not names:
        return
    kinds = ",".join(name.split("/")[1] for name in names)
    cluster.kubectl("delete", kinds, "--all", "--all-namespaces", "--cascade=foreground", timeout=240)
    cluster.kubectl("delete", *names, timeout=120)


def pod_template(command=("sleep", "3600"), image=IMAGE, resources=None, **spec):
    return {"spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, **spec,
                     "containers": [{"name": "main", "image": image, "command": list(command),
                                     "resources": resources or {}}]}}


def mpi_job(name, workers=2, *, version="v2beta1", template=None, namespace="default", slots=1):
    template = template or pod_template()
    return {"apiVersion": f"kubeflow.org/{version}", "kind": "MPIJob", "metadata": {"name": name, "namespace": namespace},
            "spec": {"slotsPerWorker": slots,
                     "mpiReplicaSpecs": {"Launcher": {"replicas": 1, "template": template},
                                         "Worker": {"replicas": workers, "template": template}}}}


def pytorch_job(name, workers=1, *, template=None, namespace="default"):
    template = template or pod_template()
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name, "namespace": namespace},
            "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": template},
                                             "Worker": {"replicas": workers, "template": template}}}}


class Operator:
    """Does for one job what its operator would: `start_pods` after the job was created, `end_pod` and `finish` later."""

    def __init__(self, cluster, job):
        """Of a job that is there already when it has a uid."""
        self.cluster = cluster
        self.namespace = job["metadata"]["namespace"]
        is_there = "uid" in job["metadata"]
        self.job = job if is_there else json.loads(cluster.kubectl("create", "-o", "json", "-f", "-", text=json.dumps(job)))
        self.name, self.kind = job["metadata"]["name"], job["kind"]
        self.resource = f"{self.kind.lower()}s.{job['apiVersion'].split('/')[1]}.kubeflow.org"

    def _pod(self, role, index, template):
        labels = {"training.kubeflow.org/job-name": self.name, "training.kubeflow.org/replica-type": role.lower(),
                  "training.kubeflow.org/replica-index": str(index)}
        owner = {"apiVersion": self.job["apiVersion"], "kind": self.kind, "name": self.name,
                 "uid": self.job["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
        # The launcher of an MPIJob is alone and has no number.
        suffix = role.lower() if role == "Launcher" else f"{role.lower()}-{index}"
        metadata = {**template.get("metadata", {}), "name": f"{self.name}-{suffix}", "namespace": self.namespace,
                    "ownerReferences": [owner]}
        metadata["labels"] = {**metadata.get("labels", {}), **labels}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}

    def start_pods(self, only=None):
        """Of all roles, or of one; gives their names."""
        replicas = next(value for key, value in self.job["spec"].items() if key.endswith("ReplicaSpecs"))
        pods = [self._pod(role, index, said["template"]) for role, said in replicas.items() if only in (None, role)
                for index in range(said["replicas"])]
        self.cluster.kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
        return [pod["metadata"]["name"] for pod in pods]

    def wait_for_pods(self, *names, seconds=180):
        self.cluster.kubectl("wait", "--for=condition=ready", *(f"pod/{name}" for name in names), "-n", self.namespace,
                             f"--timeout={seconds}s", timeout=seconds + 10)

    def end_pod(self, name):
        self.cluster.end_pod(name, self.namespace)

    def read(self):
        return self.cluster.json(f"{self.resource}/{self.name}", "-n", self.namespace)

    def finish(self, condition="Succeeded"):
        """Says in its status that the job has ended so; its pods stay, as theirs do."""
        status = {"conditions": [{"type": condition, "status": "True", "reason": f"{self.kind}{condition}"}]}
        path = (f"/apis/{self.job['apiVersion']}/namespaces/{self.namespace}/{self.kind.lower()}s/{self.name}/status")
        now = self.read()
        now["status"] = status
        self.cluster.kubectl("replace", "--raw", path, "-f", "-", text=json.dumps(now))

    def delete(self):
        """The job, and by its owner references its pods, which the cluster sees to."""
        self.cluster.kubectl("delete", f"{self.resource}/{self.name}", "-n", self.namespace)
