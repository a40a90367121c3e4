"""Reads facts about GPUs. docs/machines.json lists all GPUs, and docs/names.json specifies the GPU
on which the documents' numbers were measured."""

from __future__ import annotations

from typing import Any

from nbody_tools.arguments import ROOT
from nbody_tools.records.facts import PlacedError, read_json


UNITS = {"sms": "", "capability": "", "memory": "GB", "bandwidth": "TB/s"}  # required facts
TEXTS = ("label", "source")  # keys that every fact needs


def described() -> dict[str, dict[str, Any]]:
    """Returns the facts of every GPU, by name."""
    machines = read_json(ROOT / "docs" / "machines.json")
    return {name: values(name, facts) for name, facts in machines.items() if is_gpu(facts)}


def is_gpu(facts: dict[str, Any]) -> bool:
    """Returns True if a machine is a GPU. The answer is right even if some facts of a GPU are
    missing, because only a CPU has hardware threads but no SMs."""
    return "threads" not in facts or "sms" in facts or "capability" in facts


def values(name: str, facts: dict[str, Any]) -> dict[str, Any]:
    """Returns the values of a GPU's facts. Raises PlacedError if a required fact is missing or a
    fact is incomplete."""
    for fact in UNITS:
        if fact not in facts:
            raise PlacedError(f"docs/machines.json: {name}: {fact} is missing: add it as in the "
                              "other rows")
    check(name, facts)
    return {fact: row["value"] for fact, row in facts.items()}


def check(name: str, facts: dict[str, Any]) -> None:
    """Raises PlacedError if a fact of a machine is incomplete."""
    for fact, row in facts.items():
        problem = problem_of(fact, row)
        if problem:
            raise PlacedError(f"docs/machines.json: {name}: {fact} {problem}")


def problem_of(fact: str, row: Any) -> str:
    """Returns what is wrong with a fact, or an empty string."""
    if not isinstance(row, dict):
        return 'must be an object with "label", "value", "unit" and "source"'
    value: Any = row.get("value")
    if fact == "capability" and type(value) in (int, float):
        return f'{value} is a number: write it as a string, "{value}"'
    if fact == "capability" and not isinstance(value, str):
        return 'needs a "value", a string such as "9.0"'
    if fact != "capability" and (type(value) not in (int, float) or value <= 0):
        return 'needs a "value", a number above 0'
    for key in TEXTS:
        if not row.get(key):
            return f'needs a "{key}"'
    unit = row.get("unit")
    if not isinstance(unit, str):
        return 'needs a "unit", a string'
    if unit != UNITS.get(fact, unit):
        return f'has the unit "{unit}", but the unit must be "{UNITS[fact]}"'
    return ""


def measured() -> dict[str, Any]:
    """Returns the facts of the GPU on which the documents' numbers were measured."""
    return described()[read_json(ROOT / "docs" / "names.json")["machines"]["gpu"]]
