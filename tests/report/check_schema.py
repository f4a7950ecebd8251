# SPDX-License-Identifier: Apache-2.0
"""check_schema.py SCHEMA DOCUMENT...: documents follow the schema, and each way to break one is caught."""
import copy
import json
import pathlib
import sys

import jsonschema

# A path into the document, and what is put there; GONE takes the part away.
GONE = object()
BREAKS = [
    (["schema"], 2),
    (["session"], ""),
    (["device", "cores"], "4"),
    (["runs", 0, "status"], "done"),
    (["runs", 0, "duration_seconds"], GONE),
    (["runs", 0, "duration_seconds"], -1),
    (["runs", 0, "footprint", "cpu_cores", "unit"], GONE),
    (["runs", 0, "footprint", "cpu_cores", "p95"], None),
    (["runs", 0, "footprint", "cpu_cores", "p90"], 1),
    (["runs", 0, "footprint", "power_watts"], 0),
    (["runs", 0, "goals", 0, "value"], GONE),
    (["runs", 0, "goals", 0, "met"], "yes"),
    (["runs", 0, "advice", 0, "action"], GONE),
    (["runs", 0, "not_measured", 0, "why"], ""),
    (["runs", 0, "losses", 0, "count"], 0),
    (["runs", 0, "target", "resources", "memory_bytes"], "512MB"),
    (["runs", 0, "answer"], GONE),
    (["run"], []),
]


def broken(document, path, value):
    copied = copy.deepcopy(document)
    place = copied
    for key in path[:-1]:
        place = place[key]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copied


def main(schema_path, *documents):
    schema = json.loads(pathlib.Path(schema_path).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = 0
    for path in documents:
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        for error in validator.iter_errors(document):
            failures += 1
            print(f"{path}: {error.json_path}: {error.message}")
    for where, value in BREAKS:
        if validator.is_valid(broken(document, where, value)):
            failures += 1
            print(f"the schema lets through: {where} = {'nothing' if value is GONE else value!r}")
    print(f"{len(documents)} documents and {len(BREAKS)} broken ones, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
