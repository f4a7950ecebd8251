#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the parts of the benchmark (bench/parts/*.py) and prints their numbers with a verdict each.

    bench/run.py --build build/bench [--only PART]

What was measured is kept in BUILD/<commit>/PART.jsonl, one line a measurement, and not measured again
for the same commit: a run that was stopped goes on where it was. The table is also BUILD/latest.md.
"""
import argparse
import importlib.util
import pathlib
import sys
import time

import harness

HERE = pathlib.Path(__file__).resolve().parent


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    parts = {p.stem: p for p in sorted((HERE / "parts").glob("*.py"))}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=harness.ROOT / "build" / "bench")
    parser.add_argument("--only", choices=list(parts), help="this part alone")
    args = parser.parse_args()

    stamp = harness.commit_stamp(args.build / "bin" / "assay")
    folder = args.build.resolve() / stamp
    header = (f"commit {stamp}, {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, {harness.machine()}; "
              f"calibration loop {harness.calibration_ms():.1f} ms")
    print(header)
    tables, failed = [], []
    for name in [args.only] if args.only else parts:
        module, bench = load(parts[name]), harness.Bench(name, args.build, folder)
        print(f"{name}: {module.TITLE}")
        start = time.monotonic()
        module.run(bench)
        print(f"  took {time.monotonic() - start:.0f} s")
        tables.append(harness.markdown(f"{name}: {module.TITLE}", bench.rows))
        failed += [row[0] for row in bench.rows if row[-1] == "FAIL"]
    (args.build / "latest.md").write_text(header + "\n\n" + "\n".join(tables), encoding="utf-8")
    print(f"written to {args.build / 'latest.md'}; " + (f"FAIL: {', '.join(failed)}" if failed else "all PASS"))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
