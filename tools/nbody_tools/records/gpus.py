"""Reads facts about GPUs. docs/machines.json lists all GPUs, and docs/names.json names the measured
one."""

from __future__ import annotations

from typing import Any

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.records.facts import read_json


NUMBERS = ("sms", "memory", "bandwidth")


def described() -> dict[str, dict[str, Any]]:
    """Returns the facts of every machine with a compute capability, by name."""
    machines = read_json(ROOT / "docs" / "machines.json")
    gpus = {name: facts for name, facts in machines.items() if "capability" in facts}
    for name, facts in gpus.items():
        check(name, facts)
    return {name: {fact: row["value"] for fact, row in facts.items()}
            for name, facts in gpus.items()}


def check(name: str, facts: dict[str, Any]) -> None:
    """Raises ToolError if a machine lacks a required fact, or if a fact lacks its source."""
    for fact in NUMBERS:
        row = facts.get(fact, {})
        if type(row.get("value")) not in (int, float):
            raise ToolError(f"docs/machines.json: {name}: {fact} needs a \"value\", a number")
    for fact, row in facts.items():
        if not row.get("source"):
            raise ToolError(f"docs/machines.json: {name}: {fact} needs a \"source\"")


def measured() -> dict[str, Any]:
    """Returns the facts of the GPU on which the documents' numbers were measured."""
    return described()[read_json(ROOT / "docs" / "names.json")["machines"]["gpu"]]
