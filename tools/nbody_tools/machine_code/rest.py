"""Explains why a kernel's rate is below the ceiling that its SASS sets, from the Nsight Compute
profiles that `./nbody measure limits` wrote to docs/results/limits/profiles/."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional, Sequence

from nbody_tools.records.facts import check_line
from nbody_tools.records.record import read_records

# The states of a warp that is not issuing. Each maps to its metrics, which measure/ncu.py reads.
TIME_OF_A_WARP = {
    "a warp is ready, another is chosen": ("stall_not_selected",),
    "a warp is ready, the scheduler is busy": ("stall_dispatch_stall", "stall_math_pipe_throttle"),
    "a warp waits for a square root, a shuffle or shared memory": (
        "stall_short_scoreboard",
        "stall_mio_throttle",
    ),
    "a warp waits at a barrier": ("stall_barrier",),
    "a warp waits for global memory": ("stall_long_scoreboard", "stall_lg_throttle"),
    "a warp waits out a fixed latency": ("stall_wait",),
}
ISSUES = 1.0  # warps that issue, per issued instruction; the metrics have the same unit


def profiles(results: Path) -> list[dict[str, Any]]:
    """Returns the profiles, sorted by step and size."""
    lines = [record.data for source in sorted((results / "limits" / "profiles").glob("*.jsonl"))
             for record in read_records(source, check_line)]
    return sorted(lines, key=lambda line: (line["step"], line["systems"], line["bodies"]))


def loop_of(profile: dict[str, Any], loops: Sequence[dict[str, Any]]) -> Optional[dict[str, Any]]:
    """Returns the line of machine_code.json_lines for the inner loop of the profiled kernel. If
    the kernel has two inner loops, returns the cheaper one, which is for equal masses."""
    return min(
        (
            loop
            for loop in loops
            if (loop["step"], loop["kernel"]) == (profile["step"], profile["kernel"])
        ),
        key=lambda loop: loop["slots"] / loop["interactions"],
        default=None,
    )


def shares(profile: dict[str, Any], loop: dict[str, Any]) -> dict[str, float]:
    """Returns the factors, in percent, whose product with the ceiling is the rate."""
    metrics, instructions = profile["metrics"], sum(loop["instructions"].values())
    return {
        "instructions in the inner loop": 100
        * instructions
        / loop["interactions"]
        / metrics["instructions_per_interaction"],
        "slots used while an SM has work": metrics["issue_percent"] * loop["slots"] / instructions,
        "time that an SM has work": metrics["sm_busy_percent"],
    }


def time_of_a_warp(profile: dict[str, Any]) -> dict[str, float]:
    """Maps "a warp issues", and each reason for waiting, to its share of a warp's time, in
    percent."""
    metrics = profile["metrics"]
    warps = ISSUES + sum(value for key, value in metrics.items() if key.startswith("stall_"))
    return {
        "a warp issues": 100 * ISSUES / warps,
        **{
            name: 100 * sum(metrics.get(key, 0.0) for key in keys) / warps
            for name, keys in TIME_OF_A_WARP.items()
        },
    }


def table(step: str, loops: Sequence[dict[str, Any]], results: Path) -> list[list[str]]:
    """Returns a table with one column per profiled size. The table is empty if the step's kernels
    were not profiled."""
    found = [(profile, loop) for profile in profiles(results) if profile["step"] == step
             and (loop := loop_of(profile, loops)) is not None]
    columns = [{**shares(profile, loop), **time_of_a_warp(profile)} for profile, loop in found]
    head = ["", *(f"{profile['systems']} x {profile['bodies']}" for profile, _ in found)]
    return (
        [
            head,
            *(
                [f"{name}, %", *(f"{column[name]:.1f}" for column in columns)]
                for name in columns[0]
            ),
        ]
        if found
        else []
    )
