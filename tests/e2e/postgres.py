# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL for tests: a cluster of its own in a folder, on a unix socket."""
import glob
import os
import pathlib
import pwd
import shutil
import subprocess

from conftest import wait_until


def program(name):
    """Debian keeps its programs beside the PATH, by version."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}")) or [shutil.which(name)]
    assert found[-1], "PostgreSQL is not installed"
    return found[-1]


class Postgres:
    """Started by start(), ended with its owner at the latest. It does not run as root: as who is called postgres then."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.as_who = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.as_who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.process = None
        subprocess.run([program("initdb"), "-D", self.folder / "data", "-U", "assay", "-A", "trust", "--no-sync", "-N"],
                       check=True, capture_output=True, cwd="/", **self.as_who)

    @property
    def url(self):
        return f"postgresql://assay@/postgres?host={self.folder}"

    def start(self):
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                [program("postgres"), "-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses=", "-F"],
                stderr=log, stdout=log, cwd="/", **self.as_who)
        wait_until(lambda: self.query("SELECT 1").returncode == 0, 30, (self.folder / "log").read_text, every=0.05)

    def query(self, statement):
        return subprocess.run(["psql", "-At", self.url, "-c", statement], capture_output=True, text=True)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
