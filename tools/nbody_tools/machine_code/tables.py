"""Makes the table of issue slots per interaction from the steps' SASS (docs/results/sass/), and the
tables of docs/limits.md from docs/results/limits/ and docs/results/tuning/. The tables of
docs/limits.md show the times of variants, and why a measured rate is lower than its ceiling. The
reasons are losses that Nsight Compute counted.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any, Sequence

from nbody_tools.machine_code import rest
from nbody_tools.machine_code.loops import best_measured, ceiling, slots_of
from nbody_tools.machine_code.sass import OTHER
from nbody_tools.measure.profile import STEPS_OF_ONE_LAUNCH
from nbody_tools.records.facts import FactError, Facts, Value
from nbody_tools.records.record import Record, check_measurement, read_records
from nbody_tools.tables import ABSENT, markdown, plain

FIRST_STEP = "step03_tiling"
# The title of each column, and the instruction classes of sass.py that the column counts.
COLUMNS = (
    ("FP32", ("fp32",)),
    ("MUFU", ("mufu",)),
    ("SHFL", ("shuffle",)),
    ("shared memory", ("shared",)),
    ("other", ("memory", OTHER)),
)


def check_line(data: Any) -> None:
    """Raises ValueError unless the line is from ./nbody profile --sass."""
    for key, kind in (
        ("step", str),
        ("kernel", str),
        ("instructions", dict),
        ("interactions", int),
        ("slots", int),
    ):
        if not isinstance(data, dict) or not isinstance(data.get(key), kind):
            raise ValueError(f"'{key}' is missing or wrong")
    if min(data["interactions"], data["slots"]) < 1:
        raise ValueError("a loop without instructions or interactions")


def read_lines(results: Path) -> list[dict[str, Any]]:
    return [record.data for source in sorted((results / "sass").glob("*.jsonl"))
            for record in read_records(source, check_line)]


def table(results: Path, facts: Facts) -> Value:
    """Returns a table with a row for each program from step 03 on: the program's loop with the
    fewest issue slots, and the maximum rate that this loop allows."""
    fewest: dict[str, dict[str, Any]] = {}
    for line in read_lines(results):
        if line["step"] not in fewest or slots_of(line) < slots_of(fewest[line["step"]]):
            fewest[line["step"]] = line
    rows = [row(fewest[step], facts) for step in sorted(fewest) if step >= FIRST_STEP]
    head = [
        "program",
        "kernel",
        *(label for label, _ in COLUMNS),
        "slots",
        "ceiling, G/s",
        "best measured, G/s",
        "share",
    ]
    return Value(markdown(head, rows) if rows else None, "text", "machine_code()")


def row(line: dict[str, Any], facts: Facts) -> list[str]:
    step = line["step"]
    name = f"[{step}](../{step}/)" if step in facts.steps else step
    highest, best = ceiling(line, facts), best_measured(step, facts)
    measured = [ABSENT, ABSENT]
    if best is not None:
        measured = [f"{plain(best.rate)} ({best.problem})", f"{100 * best.rate / highest:.0f} %"]
    return [name, f"`{line['kernel']}`", *(per_interaction(line, groups) for _, groups in COLUMNS),
            f"{slots_of(line):.2f}", f"{highest:.0f}", *measured]


def per_interaction(line: dict[str, Any], groups: Sequence[str]) -> str:
    try:
        count = sum(line["instructions"][group] for group in groups)
    except KeyError as group:
        raise FactError(
            f"docs/results/sass: {line['step']} has no instruction class {group}"
        ) from None
    return f"{count / line['interactions']:.2f}" if count else ABSENT


def left(results: Path, facts: Facts) -> Value:
    """Returns a table with one column per step and size: the losses between the ceiling and the
    measured rate, and how long a warp is in each state."""
    lines = rest.profiles(results)
    runs = {problem(record.data): record for source in sorted((results / "limits").glob("*.jsonl"))
            for record in read_records(source, check_measurement)}
    if not lines:
        return Value(None, "text", "limits_left()")
    loops = read_lines(results)
    columns = [column(line, runs[problem(line)], loop_of(line, loops), facts) for line in lines]
    head = ["", *(f"{line['step'][4:6]}, {line['bodies']:,}" for line in lines)]
    return Value(
        markdown(head, [[label, *(cells[label] for cells in columns)] for label in columns[0]]),
        "text",
    )


def problem(line: dict[str, Any]) -> tuple:
    return line["step"], line["systems"], line["bodies"]


def loop_of(profile: dict[str, Any], loops: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = rest.loop_of(profile, loops)
    if found is None:
        raise FactError(f"{profile['step']}: the loop of {profile['kernel']} was not counted")
    return found


def column(line: dict[str, Any], run: Record, loop: dict[str, Any], facts: Facts) -> dict[str, str]:
    # In most steps, a launch computes one time step; in the others, it computes all time steps.
    launch = (
        1e-6
        * line["metrics"]["duration_us"]
        / (line["steps"] if run.number in STEPS_OF_ONE_LAUNCH else 1)
    )
    percent = {
        **rest.shares(line, loop),
        "share of a time step in this kernel": min(
            100.0, 100 * launch * run.data["steps"] / run.seconds("compute").median
        ),
        **rest.time_of_a_warp(line),
    }
    return {"ceiling, G/s": f"{ceiling(loop, facts):.0f}",
            **{f"{name}, %": f"{share:.1f}" for name, share in percent.items()},
            "measured, G/s": plain(run.giga_interactions_per_second("compute").median)}


def tuned(results: Path, step: str) -> Value:
    """Returns a table of the fastest shapes that ./nbody tune found. There is a row for each number
    of bodies per thread and a column for each N; each cell has a rate and a chunk length."""
    found: dict[tuple[int, int], tuple[float, int]] = {}
    for source in sorted((results / "tuning").glob("*.jsonl")):
        for line in (record.data for record in read_records(source, check_shape)):
            if line["step"] == step and "chunk" in line:
                key = line["bodies_per_thread"], line["bodies"]
                rate = (
                    line["systems"] * line["bodies"] ** 2 * line["steps"] / median(line["seconds"])
                )
                found[key] = max(found.get(key, (0.0, 0)), (rate, line["chunk"]))
    if not found:
        return Value(None, "text", f"tuned('{step}')")
    sizes = sorted({bodies for _, bodies in found})
    rows = [
        [
            str(k),
            *(
                f"{plain(1e-9 * found[k, n][0])} ({found[k, n][1]})" if (k, n) in found else ABSENT
                for n in sizes
            ),
        ]
        for k in sorted({k for k, _ in found})
    ]
    return Value(markdown(["bodies per thread", *(f"{n:,}" for n in sizes)], rows), "text")


def form_time(results: Path, form: str, bodies: int) -> Value:
    """Returns the time that a variant of step 13 needs for a time step of one system. The variants
    were timed round-robin (docs/results/limits/forms/)."""
    found = [median(line["seconds"]) / line["steps"]
             for source in sorted((results / "limits" / "forms").glob("*.jsonl"))
             for line in (record.data for record in read_records(source, check_shape))
             if (line["form"], line["systems"], line["bodies"]) == (form, 1, bodies)]
    return Value(found[0] if found else None, "time", f"form_time('{form}', {bodies})")


def check_shape(data: Any) -> None:
    """Raises ValueError unless the line is from ./nbody tune, with the shape's parameters."""
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("seconds"), list)
        or not data["seconds"]
    ):
        raise ValueError("'seconds' is missing or empty")
    for key, kind in (("step", str), ("systems", int), ("bodies", int), ("steps", int)):
        if not isinstance(data.get(key), kind):
            raise ValueError(f"'{key}' is missing or wrong")


def words_of_limits(results: Path, facts: Facts) -> dict[str, Any]:
    return {"limits_left": lambda: left(results, facts), "tuned": lambda step: tuned(results, step),
            "form_time": lambda form, bodies: form_time(results, form, bodies)}
