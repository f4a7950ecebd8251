# SPDX-License-Identifier: Apache-2.0
"""What this machine refuses to start leaves no trace but its message."""
import os
import pathlib
import resource
import shutil
import tempfile

import pytest

from conftest import Place

NOBODY_ELSE = 64321  # a user without any other process


@pytest.fixture
def open_place():
    """A folder that every user may write, unlike pytest's own."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become a user without other processes")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-refused-"))
    folder.chmod(0o777)
    yield Place(folder)
    shutil.rmtree(folder)


def with_few_processes():
    """Enough for assay, its recorder and the keeper, not for the app."""
    resource.setrlimit(resource.RLIMIT_NPROC, (3, 3))


def test_an_app_that_cannot_be_started_is_told_once_and_not_kept(open_place):
    done = open_place.assay("run", "--", "true", user=NOBODY_ELSE, preexec_fn=with_few_processes)
    assert done.returncode == 4
    assert done.stdout == ""
    assert done.stderr.count("cannot start a process") == 1, done.stderr
    assert open_place.json("history", "--json") == []
    assert list((open_place.folder / "sessions").iterdir()) == []


def with_small_files():
    """As `ulimit -f` has it: what grows beyond is a failed write, and by default a deadly signal."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))


def test_a_limit_on_the_size_of_files_is_an_error_and_not_a_death(place):
    done = place.assay("run", "--", "true", preexec_fn=with_small_files)
    assert done.returncode == 4, done.stderr
    assert "history.db" in done.stderr
