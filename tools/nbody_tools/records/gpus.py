"""GPUs as rows of data: docs/machines.json has all, docs/names.json names the measured one."""

from __future__ import annotations

from typing import Any

from nbody_tools.arguments import ROOT
from nbody_tools.records.facts import read_json


def described() -> dict[str, dict[str, Any]]:
    """Returns the facts of every machine with a compute capability, by name."""
    machines = read_json(ROOT / "docs" / "machines.json")
    return {name: {fact: row["value"] for fact, row in facts.items()}
            for name, facts in machines.items() if "capability" in facts}


def measured() -> dict[str, Any]:
    """Returns the facts of the GPU that the documents' numbers are from."""
    return described()[read_json(ROOT / "docs" / "names.json")["machines"]["gpu"]]
