"""Finds records in docs/results/sweeps/ that no table uses any more, because later runs replaced
them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Iterable

from nbody_tools.sweep.cloud import CLOUD, of_steps
from nbody_tools.sweep.judge import RECORDS, Results, sweeps
from nbody_tools.sweep.tables import Table


def superseded(root: Path, tables: Iterable[Table], results: Results) -> list[str]:
    used: set[tuple[str, str]] = set()
    for table in tables:
        chosen = of_steps(table, results) if table.name == CLOUD else results.of_table(table)
        records = filter(None, map(chosen.of, table.cells))
        used.update((data["run"], data["configuration"]) for data in records)
    unused = Counter(
        data["run"] for data in sweeps(root) if (data["run"], data["configuration"]) not in used
    )
    return [
        f"{RECORDS}: {run}: no table uses {count} of its records; remove them"
        for run, count in unused.items()
    ]
