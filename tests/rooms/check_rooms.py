#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the house rules that a script can check, over a source tree (the repository by default).

    check_rooms.py [arrows|files|docs] [ROOT]

arrows: a room includes and links only rooms of a lower level, and there are no rooms but those below.
files:  SPDX line, length, `#pragma once`.
docs:   relative links, and files named in `code`, exist.
"""
import pathlib
import re
import subprocess
import sys

LEVELS = {
    "base": 0, "samples": 1, "net": 1,
    "probes": 2, "stacks": 2, "gputrace": 2, "hooks": 2, "promapi": 2, "kubeapi": 2, "model": 2, "zoo": 2,
    "infer": 3, "launch": 3, "sampler": 3, "store": 3, "analysis": 4, "predict": 5, "collect": 6, "report": 6,
    "placement": 7, "session": 7, "agent": 8, "cluster": 8, "serve": 9, "cli": 10,
}
MAX_LINES = 600
WHOLE = {"clients/cpp/assay.hpp"}  # one header, so that an app has one file to copy
CODE = {".cpp", ".h", ".hpp", ".c"}
SIGNED = CODE | {".py", ".sh", ".cmake", ".ts", ".tsx", ".mjs", ".js", ".css", ".case"}
SKIPPED = {"build", "node_modules", "__pycache__", "testdata"}
ROOM_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]assay/(\w+)/', re.M)
PARENT_INCLUDE = re.compile(r'^\s*#\s*include\s*"(\.\./[^"]*)"', re.M)
ROOM_LINK = re.compile(r"\bassay::(\w+)")
MARKDOWN_LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED_PATH = re.compile(r"`([\w.][\w./-]*/[\w./-]*)`")


def tree(root):
    """Every file of the tree; in a repository without those that git ignores."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, check=True,
                                capture_output=True, text=True).stdout
        found = [root / name for name in sorted(listed.split("\0")) if name and (root / name).is_file()]
    else:
        found = sorted(p for p in root.rglob("*") if p.is_file())
    return [p for p in found if not SKIPPED & set(p.relative_to(root).parts)]


def walk(root, suffixes, under=""):
    return (p for p in tree(root) if p.is_relative_to(root / under) and (p.suffix in suffixes or p.name in suffixes))


def arrows(root):
    src = root / "src"
    for folder in sorted(p.name for p in src.iterdir() if p.is_dir()):
        if folder not in LEVELS:
            yield f"src/{folder}: not a room of tests/rooms/check_rooms.py"
            continue
        for path in walk(root, CODE | {"CMakeLists.txt"}, f"src/{folder}"):
            text = path.read_text(encoding="utf-8")
            found = ROOM_LINK if path.name == "CMakeLists.txt" else ROOM_INCLUDE
            where = path.relative_to(root)
            for other in sorted(set(found.findall(text))):
                if other not in LEVELS:
                    yield f"{where}: unknown room '{other}'"
                elif other != folder and LEVELS[other] >= LEVELS[folder]:
                    yield (f"{where}: {folder} (level {LEVELS[folder]}) must not use "
                           f"{other} (level {LEVELS[other]})")
            for other in PARENT_INCLUDE.findall(text):
                if not (path.parent / other).resolve().is_relative_to((src / folder).resolve()):
                    yield f"{where}: include of '{other}' leaves the room"


def files(root):
    for path in walk(root, SIGNED | {"CMakeLists.txt", "Makefile", "run"}):
        lines = path.read_text(encoding="utf-8").splitlines()
        where = path.relative_to(root)
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
            yield f"{where}: no SPDX line at its top"
        if len(lines) > MAX_LINES and str(where) not in WHOLE:
            yield f"{where}: {len(lines)} lines, over {MAX_LINES}: split it"
        if path.suffix in {".h", ".hpp"} and "#pragma once" not in lines:
            yield f"{where}: no '#pragma once'"


def docs(root):
    tops = {p.name for p in root.iterdir() if p.is_dir()} - SKIPPED
    for path in walk(root, {".md"}):
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(root)
        for link in MARKDOWN_LINK.findall(text):
            target = link.split("#")[0]
            if target and not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
                yield f"{where}: link to '{link}', which is not there"
        for name in NAMED_PATH.findall(text):
            is_pattern = any(part.isupper() for part in name.split("/"))  # corpus/NAME stands for many
            if name.split("/")[0] in tops and not is_pattern and not (root / name).exists():
                yield f"{where}: names `{name}`, which is not there"


CHECKS = {"arrows": arrows, "files": files, "docs": docs}


def main(arguments):
    names = [a for a in arguments if a in CHECKS] or list(CHECKS)
    roots = [a for a in arguments if a not in CHECKS]
    root = pathlib.Path(roots[0]) if roots else pathlib.Path(__file__).resolve().parents[2]
    problems = [p for name in names for p in CHECKS[name](root)]
    print("\n".join(problems) or f"{', '.join(names)}: all good")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
