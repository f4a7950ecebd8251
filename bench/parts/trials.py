# SPDX-License-Identifier: Apache-2.0
"""How often short trials find the best choice of GPUs, in made clusters whose laws of scaling are known."""
import json

TITLE = "trials that find the best GPUs"
CLUSTERS = 2000


def share(right, clear):
    return f"{right / clear:.1%}" if clear else "none"


def run(bench):
    found = bench.once("clusters", lambda: json.loads(bench.command(bench.bin / "trial_planner", CLUSTERS)))
    ours, grid, chance = found["ours"], found["grid"], found["random_half"]
    bench.row(f"best choice of {CLUSTERS} made clusters found, or one within 2 %", f"{ours['close']:.1%}",
              f"whole grid {grid['close']:.1%}, half of it by chance {chance['close']:.1%}", "at least 95 %",
              ours["close"] >= .95)
    bench.row("… exactly the best one", f"{ours['strict']:.1%}",
              f"whole grid {grid['strict']:.1%}, half of it by chance {chance['strict']:.1%}")
    bench.row("… or one within the noise of a trial (2 to 5 %)", f"{ours['within_noise']:.1%}",
              f"whole grid {grid['within_noise']:.1%}")
    bench.row("trials used, of the whole grid", f"{ours['trials'] / ours['grid']:.1%}",
              f"{ours['trials']:.2f} of {ours['grid']:.2f}; the most in one cluster {found['largest_share']:.0%}",
              "at most half", found["largest_share"] <= .5)
    bench.row("speed or money lost by the answer, mean", f"{ours['regret']:.2%}",
              f"whole grid {grid['regret']:.2%}, half of it by chance {chance['regret']:.2%}")
    bench.row("answers that were called clear", f"{found['clear']}, right {share(found['clear_and_close'], found['clear'])}",
              "", "right in 95 %", found["clear_and_close"] >= .95 * found["clear"] > 0)
    bench.row("… of jobs that lose much at the first step, a way that the planner does not know",
              f"{found['clear_cliffs']} of {found['cliffs']['clusters']}, right {found['clear_and_close_cliffs']}",
              f"best choice found {found['cliffs']['close']:.1%}", "right in 95 %",
              found["clear_and_close_cliffs"] >= .95 * found["clear_cliffs"] > 0)
    for group in ("questions", "shapes", "sizes"):
        for name, one in found[group].items():
            if not name.endswith("whole grid"):
                whole = found[group].get(f"{name}, whole grid")
                bench.row(f"… {name}", f"{one['close']:.1%}", f"whole grid {whole['close']:.1%}" if whole else "")
    bench.row("longest CPU time to plan one trial", f"{found['slowest_plan_ms']:.0f} ms")
