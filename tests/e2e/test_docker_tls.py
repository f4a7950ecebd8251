# SPDX-License-Identifier: Apache-2.0
"""A Docker engine behind TCP and TLS, as DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH name it."""
import subprocess

import pytest
from containers import spec
from engines import start_dockerd
from ports import free_port


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def authority(folder):
    """A folder with the certificate of an authority."""
    folder.mkdir()
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={folder.name}", "-keyout", "ca.key", "-out", "ca.pem")
    return folder


def certificate(signer, name, trusted=None):
    """A folder as DOCKER_CERT_PATH wants it: signed by one authority, trusting it or another."""
    folder = signer.parent / name
    folder.mkdir()
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "request.pem")
    openssl(folder, "x509", "-req", "-in", "request.pem", "-CA", signer / "ca.pem", "-CAkey", signer / "ca.key",
            "-CAcreateserial", "-days", "2", "-copy_extensions", "copy", "-out", "cert.pem")
    (folder / "ca.pem").write_bytes(((trusted or signer) / "ca.pem").read_bytes())
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    ours, theirs = authority(folder / "ours"), authority(folder / "theirs")
    certificate(ours, "server")
    certificate(ours, "client")
    certificate(theirs, "stranger", trusted=ours)
    certificate(ours, "distrustful", trusted=theirs)
    return folder


@pytest.fixture(scope="module")
def secured(keys):
    server = keys / "server"
    engine = start_dockerd("--tlsverify", "--tlscacert", server / "ca.pem", "--tlscert", server / "cert.pem",
                           "--tlskey", server / "key.pem", "--host", f"tcp://127.0.0.1:{free_port()}")
    engine.address = str(engine.command[-1])
    yield engine
    engine.close()


def by_tls(place, engine, client):
    place.env.update(DOCKER_HOST=engine.address, DOCKER_TLS_VERIFY="1", DOCKER_CERT_PATH=str(client))
    return place


def refusal(place, engine):
    done = place.assay("run", spec(place, engine.busybox(), ["true"]))
    assert done.returncode == 4, done.stdout + done.stderr
    return done.stderr


def test_a_run_over_tls(place, secured, keys):
    path = spec(place, secured.busybox(), ["sh", "-c", "echo over tls; exit 3"])
    document = by_tls(place, secured, keys / "client").json("run", "--json", path, expect=3)
    with open(f"{document['folder']}/run-1/stdout.log", encoding="utf-8") as log:
        assert log.read() == "over tls\n"
    assert document["runs"][0]["exit"]["code"] == 3
    assert secured.containers() == []


def test_a_client_that_another_authority_signed(place, secured, keys):
    message = refusal(by_tls(place, secured, keys / "stranger"), secured)
    assert "https://127.0.0.1:" in message and "check that it accepts the client's certificate" in message


def test_a_server_that_another_authority_signed(place, secured, keys):
    message = refusal(by_tls(place, secured, keys / "distrustful"), secured)
    assert "cannot trust https://127.0.0.1:" in message


def test_without_tls_at_a_port_that_wants_it(place, secured):
    place.env["DOCKER_HOST"] = secured.address
    message = refusal(place, secured)
    assert "wants TLS; set DOCKER_TLS_VERIFY=1" in message
