# SPDX-License-Identifier: Apache-2.0
"""The tests' own operator: what it makes looks to the cluster as the real ones' jobs and pods do."""
import pytest
import training_jobs
from conftest import wait_until


@pytest.fixture(scope="module", autouse=True)
def kinds(cluster):
    training_jobs.define_kinds(cluster)


@pytest.mark.parametrize("job, pods", [
    (training_jobs.mpi_job("mpi-old", 1, version="v1"), ["mpi-old-launcher", "mpi-old-worker-0"]),
    (training_jobs.mpi_job("mpi-new", 2), ["mpi-new-launcher", "mpi-new-worker-0", "mpi-new-worker-1"]),
    (training_jobs.pytorch_job("torch", 1), ["torch-master-0", "torch-worker-0"])])
def test_a_job_has_pods_that_are_its_own_and_go_with_it(cluster, job, pods):
    operator = training_jobs.Operator(cluster, job)
    assert sorted(operator.start_pods()) == sorted(pods)
    operator.wait_for_pods(*pods)
    owner = cluster.json("pod", pods[-1])["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["apiVersion"], owner["controller"]) == (job["kind"], job["apiVersion"], True)
    assert owner["uid"] == operator.read()["metadata"]["uid"]
    operator.end_pod(pods[-1])
    wait_until(lambda: f"pod/{pods[-1]}" not in cluster.names("pods"), 120, "a worker has gone", every=0.2)
    operator.finish()
    assert operator.read()["status"]["conditions"][0]["type"] == "Succeeded"
    operator.delete()
    wait_until(lambda: not cluster.names("pods", "-l", f"training.kubeflow.org/job-name={operator.name}"), 180,
               "its pods go with it, once the cluster has learned of their owner's kind", every=0.2)


def test_a_job_without_replicas_is_refused(cluster):
    job = training_jobs.mpi_job("nothing")
    del job["spec"]["mpiReplicaSpecs"]
    with pytest.raises(AssertionError, match="mpiReplicaSpecs"):
        training_jobs.Operator(cluster, job)


def test_one_mpi_job_is_read_in_both_versions(cluster):
    operator = training_jobs.Operator(cluster, training_jobs.mpi_job("both", 1, version="v1"))
    try:
        newer = cluster.json("mpijobs.v2beta1.kubeflow.org/both")
        assert newer["metadata"]["uid"] == operator.job["metadata"]["uid"]
    finally:
        operator.delete()
