# SPDX-License-Identifier: Apache-2.0
"""Each rule of check_rooms.py, shown to fail on a tree that breaks it."""
import pathlib

import check_rooms
import pytest

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


@pytest.fixture
def tree(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return tmp_path
    write("src/base/include/assay/base/a.h", SPDX + "#pragma once\n")
    write("src/samples/b.cpp", SPDX + "#include <assay/base/a.h>\n#include <assay/samples/b.h>\n")
    write("docs/x.md", "[b](../src/samples/b.cpp) and `src/base/include` and [web](https://example.org/)\n")
    return write


def problems(check, root):
    return list(check_rooms.CHECKS[check](pathlib.Path(root)))


@pytest.mark.parametrize("check", check_rooms.CHECKS)
def test_a_good_tree_passes(tree, check):
    assert problems(check, tree("src/base/a.cpp", SPDX)) == []


@pytest.mark.parametrize("check, name, text, words", [
    ("arrows", "src/base/bad.cpp", "#include <assay/samples/b.h>\n", "base (level 0) must not use samples"),
    ("arrows", "src/net/bad.cpp", "#include <assay/samples/b.h>\n", "must not use samples (level 1)"),
    ("arrows", "src/base/CMakeLists.txt", "assay_library(base PUBLIC assay::store)\n", "must not use store"),
    ("arrows", "src/base/bad.cpp", "#include <assay/cellar/b.h>\n", "unknown room 'cellar'"),
    ("arrows", "src/cellar/bad.cpp", "", "src/cellar: not a room"),
    ("arrows", "src/base/bad.cpp", '#include "../samples/b.h"\n', "leaves the room"),
    ("files", "src/base/bad.cpp", "int x;\n", "no SPDX line"),
    ("files", "src/base/bad.cpp", SPDX + "\n" * 600, "601 lines"),
    ("files", "src/base/bad.h", SPDX + "int f();\n", "no '#pragma once'"),
    ("docs", "docs/bad.md", "[gone](gone.md)\n", "link to 'gone.md'"),
    ("docs", "docs/bad.md", "see `src/base/gone.cpp`\n", "names `src/base/gone.cpp`"),
])
def test_a_bad_tree_fails(tree, check, name, text, words):
    found = problems(check, tree(name, text))
    assert len(found) == 1 and words in found[0]


def test_the_exit_code_tells(tree, capsys):
    assert check_rooms.main(["arrows", str(tree("src/base/a.cpp", SPDX))]) == 0
    assert check_rooms.main(["arrows", str(tree("src/cellar/bad.cpp", ""))]) == 1
    assert "src/cellar" in capsys.readouterr().out
