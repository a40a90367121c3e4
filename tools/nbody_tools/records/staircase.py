"""Sorts records into staircases: the steps' records of one problem on one machine.

Rejects records that must not be compared, such as emulated records and records of other problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from nbody_tools.arguments import ToolError
from nbody_tools.records.record import EMULATED_NOTE, Problem, Record, read_records


@dataclass(frozen=True)
class Staircase:
    problem: Problem
    records: tuple[Record, ...]  # sorted by step and number of devices

    @property
    def base(self) -> Optional[Record]:
        """Returns the record of step 00, the CPU program, on the same machine."""
        return next((record for record in self.records if record.number == "00"), None)

    @property
    def has_gpu(self) -> bool:
        return any(record.backend == "cuda" for record in self.records)

    def label(self, record: Record) -> str:
        """Returns the label of the record's step, with the number of GPUs if the step has several
        records."""
        twins = [other for other in self.records if other.step == record.step]
        return f"{record.label}, {record.device_count} GPU" if len(twins) > 1 else record.label

    def up_to(self, record: Record) -> "Staircase":
        return Staircase(self.problem, self.records[:self.records.index(record) + 1])


def refuse_emulated(records: Sequence[Record], source: Path) -> None:
    emulated = [record.step for record in records if record.emulated]
    if emulated:
        raise ToolError(f"{source}: cannot draw performance from records with backend hostcuda "
                        f"({emulated[0]}{' and others' if len(emulated) > 1 else ''}): "
                        f"{EMULATED_NOTE}")


def read_staircase(source: Path, size: str = "") -> Staircase:
    """Reads one machine's measurements of one problem. Rejects emulated records. If the file
    contains several problems, `size` selects one, such as "32x8192x20" (systems, bodies, steps)."""
    records = read_records(source)
    refuse_emulated(records, source)
    found = staircases(records)
    chosen = [staircase for staircase in found if size in ("", size_of(staircase.problem))]
    if not chosen:
        raise ToolError(
            f"{source}: has no problem {size}; it has "
            + ", ".join(dict.fromkeys(size_of(staircase.problem) for staircase in found))
        )
    if len(chosen) > 1:
        raise ToolError(
            f"{source}: holds {len(chosen)} problems, which cannot be compared; "
            + ("copy the records of one into a file: " if size else
               "choose one with --problem SYSTEMSxBODIESxSTEPS: ")
            + " / ".join(str(one.problem) for one in chosen)
        )
    # A staircase keeps only the last record of a step, so this compares the records of the file.
    refuse_several_machines([r for r in records if r.problem == chosen[0].problem], source)
    return chosen[0]


def refuse_several_machines(records: Sequence[Record], source: Path) -> None:
    """Raises ToolError if the GPUs, or the CPUs, of the records have several names."""
    for backend in {record.backend for record in records}:
        names = dict.fromkeys(r.data["device"]["name"] for r in records if r.backend == backend)
        if len(names) > 1:
            raise ToolError(f"{source}: holds records of {len(names)} machines, which cannot be "
                            f"compared; write each into a file of its own: {' / '.join(names)}")


def size_of(problem: Problem) -> str:
    return f"{problem.systems}x{problem.bodies}x{problem.steps}"


def staircases(records: Sequence[Record]) -> list[Staircase]:
    """Returns one staircase per problem. If a step ran several times on the same number of devices,
    keeps the last run."""
    problems: dict[Problem, dict[tuple[str, int], Record]] = {}
    for record in records:
        problems.setdefault(record.problem, {})[record.step, record.device_count] = record
    return [Staircase(problem, tuple(by_step[key] for key in sorted(by_step)))
            for problem, by_step in problems.items()]


def committed_staircase(folder: Path) -> Optional[tuple[Path, Staircase]]:
    """Returns the staircase with the most steps, and its file. If several have equally many steps,
    returns the newest. Considers only staircases that contain GPU steps, and step 00 on a CPU.
    Compares the dates in the records, because a file has the date of the checkout."""
    candidates = [
        (source, staircase)
        for source in sorted(folder.glob("*.jsonl"))
        for staircase in staircases([r for r in read_records(source) if not r.emulated])
        if staircase.has_gpu and staircase.base is not None and staircase.base.backend == "cpu"
    ]
    return max(candidates, default=None, key=lambda candidate: (
        len({record.step for record in candidate[1].records}),
        max(record.date for record in candidate[1].records)))
