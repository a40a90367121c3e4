"""Runs the configurations of a plan in rounds, so that a drifting clock affects all of them
equally.

Uses only the standard library, because it runs on machines that have the programs but no compiler.
Appends each finished run as one line to OUTPUT/runs.jsonl. Does not repeat recorded runs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

from nbody_tools.arguments import Failed, ToolError
from nbody_tools.records.record import PHASES, check_measurement, quartiles
from nbody_tools.steps import NO_DEVICE, as_in_the_reports, exit_code

Say = Callable[[str], None]

PLAN = "plan.json"
PROGRAMS = "sweep_programs"
CHECK = 0  # the round that validates the runs; its times are not used
SELF_CHECKED = ("activity_map", "course_program")  # these programs validate every run
BATCH_SECONDS = 20.0
CHECKED_STEPS = 4  # in CHECK; validating 1000 steps in float64 takes as long as timing a table
CALLS_OF_A_CHECK = 6  # number of times that validation calls a program
START_SECONDS = 0.15  # per run, for initial conditions and checks
CELL_SECONDS = 1e-8  # per cell of a map, for the download and checks
WARM_SECONDS = 2.0  # longer runs need no warm-up
NAME = re.compile(r"[\w.]+")


@dataclass(frozen=True)
class Planned:
    key: str
    program: str
    arguments: str
    threads: int
    rounds: int
    repeat: int
    rate: float  # expected G interactions/s
    cpu: bool = False  # if true, the program is in the executable PROGRAMS_cpu
    group: str = ""  # name of the group of configurations that are compared with this one
    measured: bool = False  # docs/results/ had its record when the plan was made

    @property
    def own_command_line(self) -> bool:
        return self.program in SELF_CHECKED

    @property
    def words(self) -> dict[str, str]:
        values = self.arguments.split()
        return dict(zip(values[::2], values[1::2]))

    @property
    def gpus(self) -> int:
        return int(self.words.get("--devices", 1))

    def simulation(self, most_steps: Optional[int] = None) -> float:
        """Estimates the seconds of one simulation of at most `most_steps` steps."""
        first = self.arguments.split()[0]
        bodies = (
            2 << int(first)
            if self.program == "course_program"
            else int(self.words.get("--bodies", 0))
        )
        steps = int(self.words.get("--steps", 10))
        pairs = int(self.words.get("--systems", 1)) * bodies ** 2 * min(steps, most_steps or steps)
        return pairs / self.rate * 1e-9

    @property
    def warmups(self) -> int:
        return 0 if self.simulation() > WARM_SECONDS else 1

    def seconds(self, check: bool) -> float:
        """Estimates the seconds of a whole run."""
        cells = int(self.words.get("--map", 0)) ** 2
        if check:
            simulations = CALLS_OF_A_CHECK * self.simulation(CHECKED_STEPS)
        else:
            simulations = (self.warmups + self.repeat) * self.simulation()
        return START_SECONDS + simulations + cells * CELL_SECONDS

    def line(self, check: bool, record: Path) -> str:
        arguments = fewer_steps(self.arguments) if check else self.arguments
        if not self.own_command_line:
            arguments = " ".join(as_in_the_reports(arguments.split()))
        words = [self.program, arguments, "--json", str(record)]
        if self.program == "course_program":
            words += ["--repeat", str(1 + self.repeat)]
        elif check:
            words += ["--repeat", "1", "--quiet", "--validate", "sampled"]
        else:
            words += ["--warmup", str(self.warmups), "--repeat", str(self.repeat)]
            words += [] if self.own_command_line else ["--quiet", "--validate", "off"]
        return " ".join(words)


def fewer_steps(arguments: str) -> str:
    return re.sub(
        r"--steps (\d+)", lambda match: f"--steps {min(int(match[1]), CHECKED_STEPS)}", arguments
    )


def read_plan(build: Path) -> dict[str, Any]:
    for path in (build / PLAN, build / "experiments" / "sweeps" / PLAN):
        if path.is_file():
            return {"folder": path.parent, **json.loads(path.read_text(encoding="utf-8"))}
    raise ToolError(f"{build}: has no {PLAN}; run ./nbody sweep build")


def chosen(plan: dict[str, Any], tables: list[str]) -> list[Planned]:
    """Returns each configuration once, in the order of the tables."""
    unknown = [name for name in tables if name not in plan["tables"]]
    if unknown:
        raise ToolError(
            f"'{unknown[0]}' is not a table of the plan; choose from {', '.join(plan['tables'])}"
        )
    keys = dict.fromkeys(key for name in tables for key in plan["tables"][name])
    return [Planned(key=key, **plan["configurations"][key]) for key in keys]


class Journal:
    """The recorded runs, and the file that contains them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
        if lines and lines[-1]:  # incomplete, because sweep was killed; repeats this run
            lines[-1] = ""
            path.write_text("\n".join(lines), encoding="utf-8")
        self.runs = [read_run(line, f"{path}:{number}")
                     for number, line in enumerate(lines, start=1) if line]

    def append(self, run: dict[str, Any]) -> None:
        """Writes the line with one call. A reader therefore never sees half a line, and a killed
        process leaves no half line behind."""
        self.runs.append(run)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = (json.dumps(run) + "\n").encode()
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)


def read_run(line: str, where: str) -> dict[str, Any]:
    try:
        run = json.loads(line)
        run["key"], run["round"]
    except (ValueError, TypeError, KeyError) as error:
        raise ToolError(f"{where}: not a run of ./nbody sweep: {error}") from error
    return run


def rounds_of(planned: Planned) -> Iterator[int]:
    yield from range(1 if planned.own_command_line else CHECK, planned.rounds + 1)


def pending(plan: list[Planned], journal: Journal) -> list[tuple[int, Planned]]:
    finished = {(run["key"], run["round"]) for run in journal.runs}
    failed = {run["key"] for run in journal.runs if "failure" in run}
    wanted = [(round_, planned) for planned in plan for round_ in rounds_of(planned)
              if (planned.key, round_) not in finished and planned.key not in failed]
    return sorted(wanted, key=kind)  # stable: keeps the plan's order within a round


def kind(item: tuple[int, Planned]) -> tuple:
    """Returns the properties that the runs of a batch share."""
    return item[0], item[1].threads, item[1].cpu


def batches(work: list[tuple[int, Planned]]) -> Iterator[list[tuple[int, Planned]]]:
    """Yields batches that take about BATCH_SECONDS. All runs of a batch belong to the same round,
    and use the same number of threads."""
    batch: list[tuple[int, Planned]] = []
    total = 0.0
    for item in work:
        seconds = item[1].seconds(item[0] == CHECK)
        if batch and (kind(item) != kind(batch[0]) or total + seconds > BATCH_SECONDS):
            yield batch
            batch, total = [], 0.0
        batch.append(item)
        total += seconds
    if batch:
        yield batch


def estimate(work: list[tuple[int, Planned]]) -> float:
    return sum(planned.seconds(round_ == CHECK) for round_, planned in work)


def run_all(plan: list[Planned], folder: Path, journal: Journal, seconds: float = float("inf"),
            say: Say = print, environment: Optional[dict[str, str]] = None) -> None:
    """Runs everything that is not in the journal, until the time limit is reached."""
    end = time.monotonic() + seconds
    while work := pending(plan, journal):
        left = end - time.monotonic()
        batch = next(batches(work))
        if left < estimate(batch) + 5:
            say(f"{len(work)} runs remain for a later call")
            return
        if not run_batch(batch, folder, journal, left, say, environment or {}):
            say(f"{len(pending(plan, journal))} runs remain, because the time is up")
            return


def program_file(folder: Path, planned: Planned) -> Path:
    return folder / (f"{PROGRAMS}_cpu" if planned.cpu else PROGRAMS)


def run_batch(
    batch: list[tuple[int, Planned]],
    folder_of_programs: Path,
    journal: Journal,
    left: float,
    say: Say,
    environment: dict[str, str],
) -> bool:
    """Runs a batch and records its results. Returns False if the overall time limit ended the
    batch, and True if the batch ended in another way, even at its own time limit."""
    limit = 60 + 10 * estimate(batch)
    with tempfile.TemporaryDirectory() as folder:
        records = [Path(folder) / f"{k}.json" for k in range(len(batch))]
        lines = [
            planned.line(round_ == CHECK, record)
            for (round_, planned), record in zip(batch, records)
        ]
        file = Path(folder) / "batch"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        first = batch[0][1]
        ended, errors, code = run_programs(
            program_file(folder_of_programs, first),
            file,
            min(left, limit),
            {**environment, **({"OMP_NUM_THREADS": str(first.threads)} if first.threads else {})},
        )
        if ended.get(0) == NO_DEVICE or "begin 0" not in errors:
            # The machine failed, not a configuration, so nothing is recorded.
            raise Failed(f"{first.program}: {reason(errors, 0, ended.get(0, code))}")
        for k, (round_, planned) in enumerate(batch):
            run: dict[str, Any] = {"key": planned.key, "round": round_}
            if ended.get(k) == 0:
                run["record"] = read_record(records[k])
                journal.append(run)
                say(f"{round_}  {run['record']['median']['compute']:.6f} s  {planned.key}")
            elif code is None and left < limit:
                return False
            else:  # the process has ended; the runs after this one are repeated
                run["failure"] = reason(errors, k, ended.get(k, code))
                journal.append(run)
                say(f"FAILED: {planned.key}: {run['failure']}")
                break
    return True


def built(folder: Path, plan: list[Planned]) -> set[str]:
    """Returns the names of the programs that the executables contain, as each executable lists
    them. Some programs may be missing, because a build may cover only some tables."""
    names: set[str] = set()
    for program in {program_file(folder, planned) for planned in plan}:
        if not os.access(program, os.X_OK):
            raise ToolError(f"{program}: is missing; run ./nbody sweep build")
        listed = subprocess.run(
            [str(program), "--list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
        if listed.returncode != 0:
            raise Failed(f"{program}: {listed.stderr.decode(errors='replace').strip()}")
        names.update(listed.stdout.decode().split())
    return names


def run_programs(programs: Path, file: Path, timeout: float,
                 more: dict[str, str]) -> tuple[dict[int, int], str, Optional[int]]:
    """Runs a batch file. Returns the exit code of each line that ended, the text on stderr, and the
    exit status of the process (None after a timeout)."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "NBODY_REQUIRE_GPU"},
        **more,
    }
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        code = exit_code(
            [str(programs), "--batch", str(file)], timeout, output, errors, environment
        )
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", errors="replace"))
    ended = {int(k): int(c) for k, c in re.findall(r"^end (\d+) (-?\d+)$", texts[0], re.MULTILINE)}
    return ended, texts[1], code


def reason(errors: str, k: int, code: Optional[int]) -> str:
    """Returns how run `k` of a batch ended, and its last line on stderr."""
    begun, _, text = errors.partition(f"begin {k}\n")
    lines = [
        line for line in (text.partition(f"end {k} ")[0] or begun).splitlines() if line.strip()
    ]
    how = (
        "took too long"
        if code is None
        else f"killed by signal {-code}"
        if code < 0
        else f"exit code {code}"
    )
    return f"{how}: {lines[-1]}" if lines else how


def read_record(path: Path) -> dict[str, Any]:
    record = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    check_measurement(record)
    return record


def merged(key: str, runs: list[dict[str, Any]]) -> Optional[dict[str, Any]]:
    """Merges all runs of a configuration into one record. If a run failed, the record contains only
    the reason. Returns None if no run was timed, or if the check did not pass."""
    failures = [run for run in runs if "failure" in run]
    if failures:
        return {"configuration": key, "failure": failures[0]["failure"]}
    timed = [run["record"] for run in runs if run["round"] != CHECK]
    checks = [run["record"] for run in runs if run["round"] == CHECK] or timed[:1]
    if not timed or not checks or checks[0]["verdict"] not in ("pass", "partial"):
        return None
    repeats = [repeat for record in timed for repeat in record["repeats"]]
    if timed[0]["step"] == "course_program":  # its first repeat is a warm-up
        repeats = [repeat for record in timed for repeat in record["repeats"][1:]]
    spread = {phase: quartiles([repeat[phase] for repeat in repeats]) for phase in PHASES}
    return {
        "configuration": key,
        **timed[0],
        "repeats": repeats,
        "rounds": len(timed),
        "median": {phase: spread[phase].median for phase in PHASES},
        "iqr": {phase: spread[phase].range for phase in PHASES},
        **{
            name: checks[0][name]
            for name in ("errors", "verdict", "sampled", "undecided")
            if name in checks[0]
        },
    }


def records_of(journal: Journal) -> list[dict[str, Any]]:
    by_key: dict[str, list[dict[str, Any]]] = {}
    for run in journal.runs:
        by_key.setdefault(run["key"], []).append(run)
    return [record for key, runs in by_key.items() if (record := merged(key, runs)) is not None]
