#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns catalog/metrics.yaml into C++, Python and documentation.

    generate.py cpp-header|cpp-table|python|docs  <metrics.yaml>  > output
"""
import json
import re
import sys

import yaml

NOTE = "Generated from catalog/metrics.yaml by catalog/generate.py; edit those."


def load(path):
    with open(path, encoding="utf-8") as f:
        metrics = yaml.safe_load(f)
    seen = set()
    for m in metrics:
        unknown = set(m) - {"name", "unit", "kind", "rate", "rate_unit", "help"}
        if unknown:
            sys.exit(f"{path}: {m.get('name')}: unknown key {sorted(unknown)}")
        if m["kind"] not in ("gauge", "counter"):
            sys.exit(f"{path}: {m['name']}: kind must be gauge or counter")
        if (m["kind"] == "counter") != ("rate" in m and "rate_unit" in m):
            sys.exit(f"{path}: {m['name']}: a counter, and only a counter, has rate and rate_unit")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", m["name"]) or m["name"] in seen:
            sys.exit(f"{path}: {m['name']}: bad or repeated name")
        seen.add(m["name"])
    return metrics


def cpp_header(metrics):
    ids = "".join(f"  {m['name']},\n" for m in metrics)
    return (f"// SPDX-License-Identifier: Apache-2.0\n// {NOTE}\n#pragma once\n\n#include <cstdint>\n\n"
            f"namespace assay {{\n\nenum class MetricId : uint16_t {{\n{ids}}};\n\n}}  // namespace assay\n")


def cpp_table(metrics):
    q = json.dumps
    rows = "".join(
        f"    {{{q(m['name'])}, {q(m['unit'])}, Kind::{m['kind']}, {q(m['help'])}, "
        f"{q(m.get('rate', ''))}, {q(m.get('rate_unit', ''))}}},\n" for m in metrics)
    return f"// SPDX-License-Identifier: Apache-2.0\n// {NOTE}\n{rows}"


def python(metrics):
    rows = "".join(f"    {m['name']!r}: ({m['unit']!r}, {m['kind']!r}, {m['help']!r}),\n" for m in metrics)
    return (f"# SPDX-License-Identifier: Apache-2.0\n# {NOTE}\n"
            f'"""Names that the profiler itself measures: name -> (unit, kind, help)."""\n\n'
            f"METRICS = {{\n{rows}}}\n")


def docs(metrics):
    rows = "".join(
        f"| `{m['name']}` | {m['unit']} | {m['kind']} | "
        f"{'`' + m['rate'] + '` (' + m['rate_unit'] + ')' if 'rate' in m else ''} | {m['help']} |\n"
        for m in metrics)
    return (f"<!-- {NOTE} -->\n# Metrics\n\nCounters are kept as the kernel counts them; tables and plots show "
            f"their rate.\n\n| name | unit | kind | shown as | meaning |\n|---|---|---|---|---|\n{rows}")


if __name__ == "__main__":
    forms = {"cpp-header": cpp_header, "cpp-table": cpp_table, "python": python, "docs": docs}
    if len(sys.argv) != 3 or sys.argv[1] not in forms:
        sys.exit(__doc__)
    sys.stdout.write(forms[sys.argv[1]](load(sys.argv[2])))
