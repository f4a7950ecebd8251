#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the example scrape with the parsers of python3-prometheus-client and checks what they understood.

    read_exposition.py PRINT_EXPOSITION...
"""
import gzip
import math
import subprocess
import sys

from prometheus_client import parser
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics

APP = {"name": "objcounter", "id": "/docker/1f"}
AWKWARD = {"image": "a\"b\\c\nd é"}


def printed(program, *words):
    return subprocess.run([*program, *words], check=True, capture_output=True).stdout


def samples(families):
    """Name and labels of every sample -> its value and time."""
    return {(s.name, tuple(sorted(s.labels.items()))): (s.value, s.timestamp and float(s.timestamp))
            for family in families for s in family.samples}


def key(name, labels):
    return name, tuple(sorted(labels.items()))


def bucket(bound):
    return key("assay_app_latency_seconds_bucket", {**APP, "le": bound})


EXPECTED = {
    key("container_cpu_usage_seconds_total", APP): (12.75, None),
    key("container_cpu_usage_seconds_total", {**AWKWARD, "cpu": "cpu\\0"}): (3, None),
    key("container_memory_working_set_bytes", APP): (2**30, 1700000000.25),
    key("container_memory_working_set_bytes", AWKWARD): (1e300, None),
    key("node_temperature_celsius", {}): (-0.1, None),
    key("node_strange_value", {"v": "high"}): (math.inf, None),
    key("node_strange_value", {"v": "low"}): (-math.inf, None),
    key("char_node_info", {"model": "Jetson"}): (1, None),
    bucket("1e-05"): (1, None), bucket("0.25"): (3, None), bucket("1.0"): (4, None),
    bucket("1e+06"): (5, None), bucket("+Inf"): (6, None),
    key("assay_app_latency_seconds_sum", APP): (2.5, None),
    key("assay_app_latency_seconds_count", APP): (6, None),
}
TYPES = {
    "classic": {"container_cpu_usage_seconds": "counter", "container_memory_working_set_bytes": "gauge",
                "node_temperature_celsius": "gauge", "node_strange_value": "unknown", "char_node_info": "gauge",
                "assay_app_latency_seconds": "histogram"},
    "openmetrics": {"container_cpu_usage_seconds": "counter", "container_memory_working_set_bytes": "gauge",
                    "node_temperature_celsius": "gauge", "node_strange_value": "unknown", "char_node": "info",
                    "assay_app_latency_seconds": "histogram"},
}
HELP = {"container_cpu_usage_seconds": "CPU time, \"all\" cores.",
        "container_memory_working_set_bytes": "Memory\nin use \\ kept."}


def check(form, families):
    assert {f.name: f.type for f in families} == TYPES[form], [(f.name, f.type) for f in families]
    for family in families:
        assert family.documentation == HELP.get(family.name, family.documentation), family
    if form == "openmetrics":
        units = {f.name: f.unit for f in families if f.unit}
        assert units == {n: n.rsplit("_", 1)[1] for n in units} and len(units) == 4, units
    found = samples(families)
    not_a_number = found.pop(key("node_strange_value", {"v": "nan"}))
    assert math.isnan(not_a_number[0])
    assert found == EXPECTED, set(found.items()) ^ set(EXPECTED.items())


def main(program):
    for form, read in (("classic", parser.text_string_to_metric_families), ("openmetrics", read_openmetrics)):
        text = printed(program, form)
        assert gzip.decompress(printed(program, form, "gzip")) == text
        families = list(read(text.decode()))
        check(form, families)
        print(f"{form}: {len(families)} families, {len(text)} bytes, read as written")


if __name__ == "__main__":
    main(sys.argv[1:])
