"""The context in which a part of ./nbody measure runs programs and stores their records."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Callable, Optional, Sequence

from nbody_tools.arguments import ToolError, write_whole_file
from nbody_tools.records.record import Record, check_measurement
from nbody_tools.steps import Step, find_steps, run_program, run_step
from nbody_tools.tables import ABSENT, plain, with_range

PEERS = {
    "ecl-bh": "ECL-BH, built with -DDEBUG to compare its forces",
    "ryoanji": "Ryoanji's ryoanji_demo",
}


class Bench:
    """The context of a part: the programs, the output folder, and the failures so far."""

    def __init__(self, part: str, options: argparse.Namespace) -> None:
        self.part, self.build, self.timeout = part, options.build.resolve(), options.timeout
        given = {name: getattr(options, name.replace("-", "_")) for name in PEERS}
        self.peers = {name: path and path.resolve() for name, path in given.items()}
        self.folder = options.output / part
        self.records = options.output / f"{part}.jsonl"
        self.failures: list[str] = []
        self.lines: list[str] = []

    @property
    def steps(self) -> list[str]:
        return [step.name for step in find_steps(self.build)]

    @property
    def gpu_steps(self) -> list[str]:
        return [name for name in self.steps if not name.startswith("step00_")]

    def program(self, name: str) -> Optional[Path]:
        """Returns the path of a step, a variant or another program; None if it was not built."""
        folders = (name, f"experiments/variants/{name}", f"experiments/{name}",
                   f"cpu/{name.removeprefix('cpu_')}")
        places = (self.build / folder / name for folder in folders)
        return next((place for place in places if os.access(place, os.X_OK)), None)

    def built_program(self, name: str) -> Path:
        found = self.program(name)
        if found is None:
            raise ToolError(f"{name}: not built")
        return found

    def built(self, *names: str) -> list[str]:
        """Returns the names of the programs that exist. Reports missing programs, which are often
        variants."""
        for name in names:
            if self.program(name) is None:
                self.say(f"{name}: not built")
        return [name for name in names if self.program(name) is not None]

    def fail(self, text: str) -> None:
        self.failures.append(f"{self.part}: {text}")
        self.say(f"FAILED: {text}")

    @staticmethod
    def say(text: str) -> None:
        print(f"  {text}", flush=True)

    def record(self, name: str, *words: object,
               environment: Optional[dict[str, str]] = None,
               more: Optional[Callable[[], dict]] = None) -> Optional[Record]:
        """Runs a program and stores its record, with additional data."""
        program = self.program(name)
        if program is None:
            self.fail(f"{name} is not in {self.build}")
            return None
        outcome = run_step(
            Step(name, program),
            [str(word) for word in words],
            self.timeout,
            environment,
            check_measurement,
        )
        if outcome.record is not None:
            self.keep({**outcome.record.data, **(more() if more else {})})
            self.say("  ".join(row(self.part, outcome.record)[1:]))
        if not outcome.good:
            self.fail(f"{name} {' '.join(map(str, words))}: {outcome.status} {outcome.message}")
        return outcome.record

    def keep(self, data: dict) -> None:
        """Stores a record at once, so that it survives if a later program crashes the machine."""
        self.lines.append(json.dumps(data) + "\n")
        write_whole_file(self.records, "".join(self.lines))

    def run(
        self, log: str, words: Sequence[object], environment: Optional[dict[str, str]] = None
    ) -> str:
        """Runs a command, writes its output to a log, and returns the output. Reports a failure."""
        path = self.folder / log
        status, message = run_program(
            [str(word) for word in words], self.timeout, path, environment
        )
        if status != "done":
            self.fail(f"{log}: {status} {message}; see {path}")
        return path.read_text(encoding="utf-8", errors="replace")

    def run_experiment(self, name: str) -> None:
        """Runs an experiment's tests, then writes all its measurements to NAME.jsonl."""
        program = self.build / "experiments" / name / name
        self.run("test.log", [f"{program}_test"])
        for line in self.run(
            f"{name}.log", [program, "--json", self.folder / f"{name}.jsonl"]
        ).splitlines():
            self.say(line)


def row(part: str, record: Record) -> list[str]:
    data = record.data
    error = record.acceleration_error
    if error is None and data.get("force_error"):
        error = data["force_error"]["rms"]
    rate = (
        ABSENT
        if data.get("approximation")
        else plain(record.giga_interactions_per_second("compute").median)
    )
    return [
        part,
        record.step,
        str(record.device_count),
        f"{data['systems']} x {data['bodies']} x {data['steps']}",
        with_range(record.seconds("compute")),
        with_range(record.seconds("total")),
        rate,
        ABSENT if error is None else f"{error:.1e}",
        record.judgement,
    ]
