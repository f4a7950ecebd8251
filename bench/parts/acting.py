# SPDX-License-Identifier: Apache-2.0
"""Two apps that take every core, one starved by the other: after how long both reach their goals, start after start."""
import os
import pathlib
import sys
import tempfile

import harness

STARTS, WITHIN = 10, 60
TITLE = "the agent changes limits"


def run(bench):
    os.environ["ASSAY_BIN"] = str(bench.bin)
    sys.path[:0] = [str(harness.ROOT / "tests" / "e2e"), str(harness.ROOT / "tests" / "engines")]
    import agents
    import engines
    import test_agent_acts

    def start():
        docker = engines.start_dockerd()
        try:
            with tempfile.TemporaryDirectory(prefix="assay-acting-") as folder:
                agent = agents.Agent(pathlib.Path(folder), docker, "--act", "--own-share", "0")
                try:
                    took, limits = test_agent_acts.contend(docker, agent)
                finally:
                    agent.end()
            return {"seconds": took, "cores": max(limits)}
        finally:
            docker.close()

    found = [bench.once(f"start {i}", start) for i in range(STARTS)]
    seconds = sorted(f["seconds"] for f in found)
    well = sum(second < WITHIN for second in seconds)
    bench.row("two apps on every core, one starved by the other: both reach their goals", f"{well} of {STARTS} starts",
              f"within {WITHIN} s; after {seconds[0]:.0f} to {seconds[-1]:.0f} s", f"{STARTS} of {STARTS}", well == STARTS)
