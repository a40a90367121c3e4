"""The table of issue slots per interaction, from the machine code of the steps: docs/results/sass/."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

from nbody_tools.measure.machine_code import best_measured, ceiling, slots_of
from nbody_tools.measure.sass import OTHER
from nbody_tools.records.facts import FactError, Facts, Value
from nbody_tools.records.record import read_records
from nbody_tools.tables import ABSENT, markdown, plain

FIRST_STEP = "step03_tiling"
# The columns: what they are called, and the classes of measure/sass.py in them.
COLUMNS = (("FP32", ("fp32",)), ("MUFU", ("mufu",)), ("SHFL", ("shuffle",)), ("shared memory", ("shared",)),
           ("other", ("memory", OTHER)))


def check_line(data: Any) -> None:
    """Raises ValueError unless it is one that ./nbody profile --sass wrote."""
    for key, kind in (("step", str), ("kernel", str), ("instructions", dict), ("interactions", int), ("slots", int)):
        if not isinstance(data, dict) or not isinstance(data.get(key), kind):
            raise ValueError(f"'{key}' is missing or wrong")
    if min(data["interactions"], data["slots"]) < 1:
        raise ValueError("a loop without instructions or interactions")


def read_lines(results: Path) -> list[dict[str, Any]]:
    return [record.data for source in sorted((results / "sass").glob("*.jsonl"))
            for record in read_records(source, check_line)]


def table(results: Path, facts: Facts) -> Value:
    """Of each program from step 03 on the loop with the fewest slots: no record can be above its ceiling."""
    fewest: dict[str, dict[str, Any]] = {}
    for line in read_lines(results):
        if line["step"] not in fewest or slots_of(line) < slots_of(fewest[line["step"]]):
            fewest[line["step"]] = line
    rows = [row(fewest[step], facts) for step in sorted(fewest) if step >= FIRST_STEP]
    head = ["program", "kernel", *(label for label, _ in COLUMNS), "slots", "ceiling, G/s", "best measured, G/s",
            "share"]
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
        raise FactError(f"docs/results/sass: {line['step']} has no instructions of class {group}") from None
    return f"{count / line['interactions']:.2f}" if count else ABSENT
