"""Finds the step programs in a build folder and runs one of them.

An Outcome describes a run, with or without a record; callers decide how to show it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.records.record import Record, RecordError, check_step, read_records

NO_DEVICE = 77  # exit code of a program that found no device
STEP_NAME = re.compile(r"step(\d\d[a-z]?)_\w+")  # also matches step04b_blocks, after step 04
STEP_FOLDERS = "step[0-9][0-9]*_*"
INCLUDED = re.compile(r'^#include "(\w+/\w+\.h)"', re.M)


@dataclass(frozen=True)
class Step:
    name: str
    program: Path

    @property
    def number(self) -> str:
        return number_of(self.name)


@dataclass(frozen=True)
class Outcome:
    step: str
    status: str  # pass, partial, fail, unchecked (verdicts), error, timeout, no device
    record: Optional[Record] = None
    message: str = ""

    @property
    def good(self) -> bool:
        return self.status in ("pass", "partial", "unchecked")


def number_of(name: str) -> str:
    """Returns "04b" for step04b_blocks. If these numbers or the steps' names are sorted as text,
    the steps are in order."""
    return name[len("step"):].partition("_")[0]


def step_folders(root: Path) -> list[str]:
    return sorted(folder.name for folder in root.glob(STEP_FOLDERS)
                  if folder.is_dir() and STEP_NAME.fullmatch(folder.name))


def headers_of(name: str, root: Path) -> list[Path]:
    """Returns the headers in a step's folder, and those in other folders of the root that the
    step's program includes, such as float64/each_pair_once.h."""
    folder = root / name
    text = "".join(file.read_text("utf-8") for file in sorted(folder.glob("nbody.c*")))
    included = (root / header for header in INCLUDED.findall(text))
    return sorted({*folder.glob("*.h"), *(header for header in included if header.is_file())})


def is_draft(name: str, root: Path) -> bool:
    """True if the step's CMakeLists.txt says DRAFT. A draft needs no page, picture or
    measurement."""
    file = root / name / "CMakeLists.txt"
    return (
        file.is_file()
        and re.search(rf"nbody_step\({name}\s+DRAFT\b", file.read_text("utf-8")) is not None
    )


def published_steps(root: Path) -> list[str]:
    """Returns the steps that documents describe: all except drafts."""
    return [name for name in step_folders(root) if not is_draft(name, root)]


def find_step(text: str, names: Sequence[str], what: str = "a step") -> str:
    """Finds a step by full name or by number: 3, 03, 04b."""
    number = text.zfill(3 if text[-1:].isalpha() else 2)
    for name in names:
        if text == name or number == number_of(name):
            return name
    raise ToolError(f"'{text}' is not {what}; choose from {', '.join(names)}")


def find_steps(build: Path) -> list[Step]:
    steps = [Step(name, (build / name / name).absolute()) for name in step_folders(build)
             if (build / name / name).is_file() and os.access(build / name / name, os.X_OK)]
    if not steps:
        raise ToolError(f"{build}: holds no step programs; build first (./nbody build, or "
                        "./nbody build 11 for one step)")
    return steps


def choose_steps(steps: Sequence[Step], wanted: Sequence[str]) -> list[Step]:
    """Returns the named steps in order, or all if none is named."""
    names = [step.name for step in steps]
    chosen = {find_step(text, names, "a step that is built here") for text in wanted}
    return [step for step in steps if not wanted or step.name in chosen]


def backend_of(steps: Sequence[Step]) -> Optional[str]:
    """Returns the backend of the last step, or None if that step does not run. The first step
    would not show whether there is a GPU, because step 00 always runs on the CPU."""
    probe = run_step(steps[-1], ["--scenario", "two-body", "--steps", "1", "--validate", "off"], 60)
    return probe.record.backend if probe.record is not None else None


def has_gpu() -> bool:
    """True if the driver reports a GPU, regardless of what was built. The script ./nbody uses the
    same test."""
    try:
        listed = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    return listed.startswith("GPU ")


def default_build(root: Path = ROOT) -> Path:
    """Returns build/cuda if its programs find a device, otherwise build/cpu."""
    cuda = root / "build" / "cuda"
    try:
        if cuda.is_dir() and backend_of(find_steps(cuda)) == "cuda":
            return cuda
    except ToolError:
        pass  # nothing is built there yet
    return root / "build" / "cpu"


def what_a_step_adds(name: str, root: Path = ROOT) -> str:
    """Returns the text of the source's first line, `// stepNN_name -- what it adds.`."""
    for source in sorted((root / name).glob("nbody.c*")):
        with source.open(encoding="utf-8") as lines:
            _, separator, text = lines.readline().partition(" -- ")
        if separator:
            return text.strip().rstrip(".")
    return ""


def exit_code(words: Sequence[str], timeout: float, output: Any, errors: Any,
              environment: dict[str, str]) -> Optional[int]:
    """Runs a program in its own session. Returns the exit code, or None if the time limit ended the
    program."""
    process = subprocess.Popen(
        words,
        stdout=output,
        stderr=errors,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    )
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def run_program(words: Sequence[str], timeout: float, log: Optional[Path] = None,
                environment: Optional[dict[str, str]] = None) -> tuple[str, str]:
    """Runs a program until it ends or its time limit is reached. Returns a status and the last line
    of stderr. If `log` is given, writes stdout and stderr to this file, and returns the file's last
    line instead."""
    with log.open("w+b") if log else tempfile.TemporaryFile() as output:
        try:
            code = exit_code(words, timeout, output if log else subprocess.DEVNULL, output,
                             {**os.environ, **(environment or {})})
        except OSError as error:
            return "error", f"cannot be started: {error.strerror}"
        if code is None:
            return "timeout", f"stopped after {timeout:g} s"
        output.seek(0)
        lines = output.read().decode("utf-8", errors="replace").strip().splitlines()
    message = lines[-1].strip() if lines else ""
    if code == 0:
        return "done", ""
    if code == NO_DEVICE:
        return "no device", message
    ending = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
    return "error", ending + (f": {message}" if message else "")


def as_in_the_reports(words: Sequence[str]) -> list[str]:
    """If the options do not set an integrator, adds Euler's method, which the reports used. Without
    the option, a generated scenario is integrated with leapfrog."""
    given = {word.partition("=")[0] for word in words}
    other = {"--integrator", "--input", "--resume"} & given
    return [*words] if other or "--scenario" not in given else [*words, "--integrator", "euler"]


def run_step(step: Step, arguments: Sequence[str], timeout: float,
             environment: Optional[dict[str, str]] = None,
             check: Callable[[Any], None] = check_step) -> Outcome:
    """Runs a step or a similar program once, and reads its record."""
    with tempfile.TemporaryDirectory() as folder:
        record_file = Path(folder) / "record.json"
        status, message = run_program(
            [
                str(step.program),
                *as_in_the_reports(arguments),
                "--quiet",
                "--json",
                str(record_file),
            ],
            timeout,
            environment=environment,
        )
        record = None
        try:
            # If validation fails, a program exits with code 1, but still writes its record.
            if record_file.exists():
                record = read_records(record_file, check)[-1]
        except RecordError as error:
            return Outcome(step.name, "error", None, str(error).split(": ", 1)[1])
    if status == "done" and record is None:
        return Outcome(step.name, "error", None, "exit code 0, but it wrote no result record")
    if record is not None and (status == "done" or record.verdict == "fail"):
        return Outcome(step.name, record.verdict, record, message)
    return Outcome(step.name, status, None, message)
