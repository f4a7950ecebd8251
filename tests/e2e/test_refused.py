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


def test_files_of_another_user_in_a_sessions_folder_are_told(open_place):
    """As a container leaves them that wrote as root into what was mounted."""
    assert open_place.assay("run", "--quiet", "--", "true", user=NOBODY_ELSE).returncode == 0
    folder, = (open_place.folder / "sessions").iterdir()
    theirs = folder / "run-1/theirs"
    theirs.mkdir()
    (theirs / "upload.jpg").write_text("x")
    done = open_place.assay("history", "rm", "last", user=NOBODY_ELSE)
    assert done.returncode == 4
    assert f"sudo rm -r {folder}" in done.stderr
    assert open_place.json("history", "list", "--json", user=NOBODY_ELSE) == []
