"""The tables of docs/limits.md: what Nsight Compute counted at the sizes that matter there (docs/results/limits/), and
the shapes that ./nbody tune timed (docs/results/tuning/)."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from nbody_tools.documents import machine_code
from nbody_tools.measure.machine_code import ceiling, slots_of
from nbody_tools.measure.profile import STEPS_OF_ONE_LAUNCH
from nbody_tools.records.facts import Facts, Value, check_line
from nbody_tools.records.record import Record, read_records
from nbody_tools.tables import ABSENT, markdown, plain

# What a warp does otherwise, by metrics of measure/ncu.py.
TIME_OF_A_WARP = {
    "it could, but another does": ("stall_not_selected",),
    "it could, but the scheduler is kept": ("stall_dispatch_stall", "stall_math_pipe_throttle"),
    "it waits for a root, a shuffle or shared memory": ("stall_short_scoreboard", "stall_mio_throttle"),
    "for its block, or all blocks": ("stall_barrier",),
    "for memory": ("stall_long_scoreboard", "stall_lg_throttle"),
    "for what it issued last": ("stall_wait",)}
ISSUES = 1.0  # in the same unit, warps per issue: one issues


def left(results: Path, facts: Facts) -> Value:
    """One column per step and size: how the ceiling becomes the rate, and how a warp spends its time."""
    lines = [record.data for source in sorted((results / "limits").rglob("*.jsonl"))
             for record in read_records(source, check_line)]
    profiles = sorted((line for line in lines if "metrics" in line), key=problem)
    runs = {problem(line): Record(line) for line in lines if "metrics" not in line}
    if not profiles:
        return Value(None, "text", "limits_left()")
    columns = [column(line, runs[problem(line)], loop_of(results, line), facts) for line in profiles]
    head = ["", *(f"{line['step'][4:6]}, {line['bodies']:,}" for line in profiles)]
    return Value(markdown(head, [[label, *(cells[label] for cells in columns)] for label in columns[0]]), "text")


def problem(line: dict[str, Any]) -> tuple:
    return line["step"], line["systems"], line["bodies"]


def loop_of(results: Path, line: dict[str, Any]) -> dict[str, Any]:
    """The inner loop of that kernel in the machine code; of two, that for one mass."""
    return min((code for code in machine_code.read_lines(results)
                if (code["step"], code["kernel"]) == (line["step"], line["kernel"])), key=slots_of)


def column(line: dict[str, Any], run: Record, loop: dict[str, Any], facts: Facts) -> dict[str, str]:
    metrics = line["metrics"]
    instructions = sum(loop["instructions"].values())
    # A launch is one time step, or all of them.
    launch = 1e-6 * metrics["duration_us"] / (line["steps"] if run.number in STEPS_OF_ONE_LAUNCH else 1)
    warps = ISSUES + sum(value for key, value in metrics.items() if key.startswith("stall_"))
    percent = {
        "instructions that are in the inner loop":
            100 * instructions / loop["interactions"] / metrics["instructions_per_interaction"],
        "slots used while an SM has work": metrics["issue_percent"] * loop["slots"] / instructions,
        "time that an SM has work": metrics["sm_busy_percent"],
        "time step that this kernel takes": min(100.0, 100 * launch * run.data["steps"] / run.seconds("compute").median),
        "a warp issues": 100 * ISSUES / warps,
        **{name: 100 * sum(metrics.get(key, 0.0) for key in keys) / warps for name, keys in TIME_OF_A_WARP.items()}}
    return {"ceiling, G/s": f"{ceiling(loop, facts):.0f}",
            **{f"{name}, %": f"{share:.1f}" for name, share in percent.items()},
            "measured, G/s": plain(run.giga_interactions_per_second("compute").median)}


def tuned(results: Path, step: str) -> Value:
    """For each number of bodies per thread the fastest that ./nbody tune tried, over N: rate, and length of a chunk."""
    found: dict[tuple[int, int], tuple[float, int]] = {}
    for source in sorted((results / "tuning").glob("*.jsonl")):
        for line in (record.data for record in read_records(source, check_shape)):
            if line["step"] == step and "chunk" in line:
                key = line["bodies_per_thread"], line["bodies"]
                rate = line["systems"] * line["bodies"] ** 2 * line["steps"] / median(line["seconds"])
                found[key] = max(found.get(key, (0.0, 0)), (rate, line["chunk"]))
    if not found:
        return Value(None, "text", f"tuned('{step}')")
    sizes = sorted({bodies for _, bodies in found})
    rows = [[str(k), *(f"{plain(1e-9 * found[k, n][0])} ({found[k, n][1]})" if (k, n) in found else ABSENT for n in sizes)]
            for k in sorted({k for k, _ in found})]
    return Value(markdown(["bodies per thread", *(f"{n:,}" for n in sizes)], rows), "text")


def check_shape(data: Any) -> None:
    """Raises ValueError unless it is a line of ./nbody tune, with the shape's own parameters."""
    if not isinstance(data, dict) or not isinstance(data.get("seconds"), list) or not data["seconds"]:
        raise ValueError("no times of a shape")
    for key, kind in (("step", str), ("systems", int), ("bodies", int), ("steps", int)):
        if not isinstance(data.get(key), kind):
            raise ValueError(f"'{key}' is missing or wrong")


def words(results: Path, facts: Facts) -> dict[str, Any]:
    return {"limits_left": lambda: left(results, facts), "tuned": lambda step: tuned(results, step)}
