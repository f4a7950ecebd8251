#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks format (clang-format), C++ (clang-tidy) and shell scripts (shellcheck).

    tools/lint.py --build build/clang     needs that folder built: headers are generated there
    tools/lint.py --fix-format            formats in place and checks nothing

A source file that passed clang-tidy is not looked at again until it, a header that it includes, its
compile command or .clang-tidy changes; the stamps are in build/lint.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAMPS = ROOT / "build" / "lint"


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def repository_files(*patterns):
    listed = output("git", "ls-files", "-co", "--exclude-standard", "--", *patterns).split()
    return [f for f in listed if (ROOT / f).is_file()]


def passes(*command):
    return subprocess.run(command, cwd=ROOT).returncode == 0


def cpp_files():
    return repository_files("*.cpp", "*.h", "*.hpp", "*.c")


def shell_scripts():
    return repository_files("*.sh", ".ci/run")


def dependencies(build):
    """Object file -> the repository's files that it was compiled from, as Ninja recorded them."""
    deps, current = {}, None
    for line in output("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
        elif ":" in line and "#deps" in line:
            current = deps.setdefault(line.split(":")[0], [])
    return deps


class Tidy:
    def __init__(self, build):
        self.build = build
        self.deps = dependencies(build)
        self.common = output("clang-tidy", "--version").encode() + (ROOT / ".clang-tidy").read_bytes()

    def key(self, entry):
        digest = hashlib.sha256(self.common + entry["command"].encode())
        compiled = re.search(r" -o (\S+)", entry["command"])[1]
        sources = self.deps.get(compiled, []) + [pathlib.Path(entry["file"])]
        for path in sorted(set(sources)):
            digest.update(str(path).encode() + path.read_bytes())
        return digest.hexdigest()

    def check(self, entry):
        """Nothing when the file passes, else clang-tidy's words."""
        stamp = STAMPS / self.key(entry)
        if stamp.exists():
            return None
        # The analyzer of clang 14 does not follow coroutines, and finds null pointers within Asio.
        asleep = "co_await" in pathlib.Path(entry["file"]).read_text(encoding="utf-8")
        less = ["--checks=-clang-analyzer-*"] if asleep else []
        run = subprocess.run(["clang-tidy", "--quiet", *less, "-p", str(self.build), entry["file"]],
                             cwd=ROOT, capture_output=True, text=True)
        if run.returncode:
            return run.stdout or run.stderr
        stamp.touch()
        return None


def clang_tidy(build, jobs):
    STAMPS.mkdir(parents=True, exist_ok=True)
    entries = json.loads((build / "compile_commands.json").read_text())
    entries = [e for e in entries if not pathlib.Path(e["file"]).is_relative_to(build)]
    tidy = Tidy(build)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for words in filter(None, pool.map(tidy.check, entries)):
            failures += 1
            print(words, flush=True)
    print(f"clang-tidy: {len(entries)} files, {failures} with findings")
    return failures == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "clang")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fix-format", action="store_true")
    args = parser.parse_args()
    if args.fix_format:
        sys.exit(not passes("clang-format", "-i", *cpp_files()))
    good = [passes("clang-format", "--dry-run", "-Werror", *cpp_files()),
            passes("shellcheck", *shell_scripts()),
            clang_tidy(args.build.resolve(), args.jobs)]
    print("lint: " + ("all good" if all(good) else "see the findings above"))
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
