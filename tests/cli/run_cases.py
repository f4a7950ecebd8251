#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs command-line behaviour written as text.

    run_cases.py [--bin FOLDER] [--only WORDS] FILE.case...

A case starts with NAME; its other lines, in any order and number:

    NAME words that say what holds
    FILE sage.yaml <<END         an input file, up to a line that is END
    END
    SETUP command                bash; must succeed; what it prints is not looked at
    RUN command                  bash; several lines are one script
    EXPECT text                  a line of stdout has this text; several: in this order
    EXPECT_REGEX pattern         the same with a pattern
    EXPECT_STDERR text           and on stderr
    EXPECT_STDERR_REGEX pattern
                                 texts and patterns have 3 characters or more: 0 is also in 10; write ^0$
    EXPECT_NOT text              nowhere, on neither of them
    EXIT 2                       the exit code; 0 when not said
    TIMEOUT 20                   seconds; 30 when not said

Each case runs in a folder of its own, which is also HOME, with an empty history, and with `--bin`
first on the PATH. A line that starts with # is a comment.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

EXPECTATIONS = {"EXPECT": (0, False), "EXPECT_REGEX": (0, True),
                "EXPECT_STDERR": (1, False), "EXPECT_STDERR_REGEX": (1, True)}

SHORTEST = 3


@dataclasses.dataclass
class Case:
    name: str
    line: int
    files: dict = dataclasses.field(default_factory=dict)
    setup: list = dataclasses.field(default_factory=list)
    run: list = dataclasses.field(default_factory=list)
    expected: tuple = dataclasses.field(default_factory=lambda: ([], []))  # stdout, stderr: (pattern, as written)
    unwanted: list = dataclasses.field(default_factory=list)
    exit: int = 0
    timeout: float = 30


class BadCase(Exception):
    pass


def parse(text, source):
    cases, lines = [], iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "NAME":
            cases.append(Case(rest, number))
            continue
        if not cases:
            raise BadCase(f"{source}:{number}: '{word}' before the first NAME")
        case = cases[-1]
        if word == "FILE":
            name, _, end = rest.partition(" <<")
            body = []
            for _, inner in lines:
                if inner == end:
                    break
                body.append(inner + "\n")
            else:
                raise BadCase(f"{source}:{number}: no line '{end}' ends this FILE")
            case.files[name] = "".join(body)
        elif word in ("SETUP", "RUN"):
            getattr(case, word.lower()).append(rest)
        elif word in EXPECTATIONS:
            if len(rest) < SHORTEST:
                raise BadCase(f"{source}:{number}: '{rest}' is in too many lines; write EXPECT_REGEX ^{rest}$")
            stream, is_pattern = EXPECTATIONS[word]
            case.expected[stream].append((rest if is_pattern else re.escape(rest), f"{word} {rest}"))
        elif word == "EXPECT_NOT":
            case.unwanted.append(rest)
        elif word in ("EXIT", "TIMEOUT"):
            setattr(case, word.lower(), int(rest))
        else:
            raise BadCase(f"{source}:{number}: unknown word '{word}'")
    for case in cases:
        if not case.run:
            raise BadCase(f"{source}:{case.line}: '{case.name}' has no RUN")
    return cases


def environment(folder, bin_folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "XDG_"))}
    env.update(HOME=folder, XDG_DATA_HOME=f"{folder}/data", XDG_CONFIG_HOME=f"{folder}/config",
               ASSAY_STORE=f"{folder}/history.db", ASSAY_LOCK=f"{folder}/lock", TMPDIR=folder, LC_ALL="C.UTF-8", TERM="dumb")
    if bin_folder:
        env["PATH"] = f"{pathlib.Path(bin_folder).resolve()}:{env['PATH']}"
    return env


def shell(script, folder, env, timeout):
    """(exit code, stdout, stderr); on a timeout the exit code is a text."""
    process = subprocess.Popen(["bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return f"none within {timeout} s", out, err


def missing(expected, text):
    """The expectations that no line meets, each looked for behind the line that met the one before."""
    lines, position, unmet = text.splitlines(), 0, []
    for pattern, written in expected:
        hits = [i for i in range(position, len(lines)) if re.search(pattern, lines[i])]
        if hits:
            position = hits[0] + 1
        else:
            unmet.append(written)
    return unmet


def run(case, bin_folder):
    """What is wrong, one text each; empty when the case passes."""
    with tempfile.TemporaryDirectory(prefix="assay-case-") as folder:
        for name, content in case.files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        env = environment(folder, bin_folder)
        for command in case.setup:
            code, out, err = shell(command, folder, env, case.timeout)
            if code != 0:
                return [f"SETUP {command}: exit {code}\n{out}{err}"]
        code, out, err = shell("\n".join(case.run), folder, env, case.timeout)
    wrong = [] if code == case.exit else [f"EXIT {case.exit}, but it was {code}"]
    wrong += [f"{written}: no such line" for stream, text in enumerate((out, err))
              for written in missing(case.expected[stream], text)]
    wrong += [f"EXPECT_NOT {text}: it is there" for text in case.unwanted if text in out + err]
    if wrong:
        wrong += [f"{title}:\n" + "".join(f"    | {line}\n" for line in text.splitlines())
                  for title, text in (("stdout", out), ("stderr", err))]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", help="folder to put first on the PATH")
    parser.add_argument("--only", default="", help="run only cases whose name has these words")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    passed = failed = 0
    for file in args.files:
        try:
            cases = parse(file.read_text(encoding="utf-8"), file)
        except BadCase as error:
            sys.exit(str(error))
        for case in (c for c in cases if args.only in c.name):
            wrong = run(case, args.bin)
            print(f"{'FAILED' if wrong else 'ok    '} {case.name}")
            if wrong:
                print(f"  at {file}:{case.line}: RUN {' ; '.join(case.run)}")
                print("".join(f"  {w}\n" for w in wrong))
            failed, passed = failed + bool(wrong), passed + (not wrong)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
