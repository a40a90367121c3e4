"""Made-up records, body files and step programs for the tests, and a base class for test cases."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Sequence

from nbody_tools.__main__ import main

TOOLS = Path(__file__).resolve().parent.parent

PROBLEM = {"systems": 32, "bodies": 8192, "steps": 20, "dt": 0.01, "softening": 0.05,
           "integrator": "euler", "scenario": "galaxies"}
STAIRCASE = (("step00_cpu_omp", "cpu", 40.0), ("step01_gpu_naive", "cuda", 0.5),
             ("step02_layout", "cuda", 0.52), ("step03_tiling", "cuda", 0.1))
CPU = {"name": "Test CPU x 64", "count": 1, "driver": "", "cuda": ""}
GPU = {"name": "Test GPU", "count": 1, "driver": "13.0", "cuda": "13.0"}
EMULATOR = {"name": "hostcuda on Test CPU", "count": 1, "driver": "13.0", "cuda": "13.0"}

NAMES = {"problems": {"systems": [32, 8192, 20], "wide": [256, 8192, 20]},
         "machines": {"gpu": "Test GPU", "cpu": "Test CPU x 64"},
         "timelines": {"overlap": ["step03_tiling"]}}
PUBLISHED = {"citation": "a report", "machine": "a K80",
             "problem": {"systems": 32, "bodies": 8192, "steps": 20},
             "rows": [{"key": "multi", "label": "multiple GPUs", "step": "step03_tiling",
                       "time": 0.1410, "speedup": 40.53, "gips": 370.1884}]}
MACHINES = {"Test GPU": {"issue_slots": {"label": "slots", "value": 33.45, "unit": "10¹²/s",
                                         "source": "product"},
                         "fp32_peak": {"label": "peak", "value": 66.9, "unit": "TFLOP/s",
                                       "source": "product"}}}
PREDICTIONS = """| step | reasoning | predicted G/s |
|---|---|---|
| 03 | tiles | 250 |

| what | reasoning | predicted |
|---|---|---|
| 08, one device | a thread | as step 07 |
"""


class InFolder(unittest.TestCase):
    """Gives each test its own folder, and calls the tools."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, content: bytes | str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def program(self, name: str, text: str) -> Path:
        """Writes an executable. If `text` does not begin with #!, it is Python code, in which the
        variable `words` contains the arguments."""
        head = (
            ""
            if text.startswith("#!")
            else f"#!{sys.executable} -IS\nimport sys\nwords = sys.argv[1:]\n"
        )
        path = self.file(name, head + text)
        path.chmod(0o755)
        return path

    def call(self, *words: object) -> tuple[int, str, str]:
        """Runs ./nbody WORDS; returns the exit code, standard output and standard error."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                code = main([str(word) for word in words])
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), errors.getvalue()

    def done(self, *words: object) -> str:
        """Returns the output of a command that must exit with code 0 and print no errors."""
        code, out, errors = self.call(*words)
        self.assertEqual((code, errors), (0, ""))
        return out

    def refused(self, *words: object, code: int = 2) -> str:
        """Runs a command that must exit with `code` and a one-line message; returns the message."""
        found, _, errors = self.call(*words)
        self.assertEqual((found, errors.count("\n")), (code, 1), errors)
        return errors


class Measuring(InFolder):
    """Gives each test a folder of programs, and one for the output of ./nbody measure."""

    def setUp(self) -> None:
        super().setUp()
        self.build, self.output = self.folder / "build", self.folder / "out"

    def measure(self, *words: object) -> tuple[object, ...]:
        return ("measure", *words, "--build", self.build, "--output", self.output)

    def records(self, part: str) -> list[dict[str, Any]]:
        return [
            json.loads(line)
            for line in (self.output / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
        ]


class InRepository(InFolder):
    """Gives each test the files from which a repository's documents are generated."""

    def setUp(self) -> None:
        super().setUp()
        self.results = self.folder / "docs" / "results"
        self.results.mkdir(parents=True)
        for name, data in (("names", NAMES), ("published", PUBLISHED), ("machines", MACHINES)):
            self.file(f"docs/{name}.json", json.dumps(data))
        self.file("docs/results/predictions.md", PREDICTIONS)

    def records(self, name: str, *records: dict[str, Any]) -> None:
        write_records(self.results / name, records)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def tool(self, command: str, *words: str) -> tuple[int, str]:
        code, out, errors = self.call(command, *words, "--root", self.folder)
        return code, out + errors


def record(step: str, backend: str = "cuda", compute: Sequence[float] = (1.0, 2.0, 4.0),
           **changes: Any) -> dict[str, Any]:
    """Returns a record. The total time is the compute time plus 0.5 s. With three repeats, the
    median is the time of the middle one."""
    repeats = [{"upload": 0.25, "compute": c, "download": 0.25, "total": c + 0.5} for c in compute]
    middle = sorted(compute)[len(compute) // 2]
    median = {"upload": 0.25, "compute": middle, "download": 0.25, "total": middle + 0.5}
    data = {
        "step": step, "parent": "", "revision": "0000000", "date": "2026-01-02T03:04:05Z",
        "device": {"cpu": CPU, "cuda": GPU, "hostcuda": EMULATOR}[backend], "backend": backend,
        "flags": "-O3", **PROBLEM, "repeats": repeats, "median": median,
        "iqr": dict.fromkeys(median, 0.0), "interactions_per_second": 1.0,
        "interactions_per_second_total": 1.0, "errors": {"acceleration_rms": 2e-7},
        "verdict": "pass",
    }
    return {**data, **changes}


def staircase_records() -> list[dict[str, Any]]:
    return [
        record(step, backend, (0.9 * time, time, 1.2 * time)) for step, backend, time in STAIRCASE
    ]


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(data) + "\n" for data in records), encoding="utf-8")
    return path


def bin_bytes(values: Sequence[float], systems: int, bodies: int, scenario: str = "",
              time: float = 0.0, step: int = 0, staggered: int = 0) -> bytes:
    """Returns a BIN file. Packs it field by field, so that a bug in the reader is not
    repeated here."""
    data = b"NBODYBIN"
    for word in (1, 0x01020304, 4, 144, systems, bodies):
        data += struct.pack("<I", word)
    data += struct.pack("<d", time) + struct.pack("<q", step)
    for number in (1.0, 0.05, 0.01):
        data += struct.pack("<d", number)
    data += struct.pack("<I", 1) + struct.pack("<I", staggered)
    data += scenario.encode().ljust(32, b"\0") + b"AU".ljust(32, b"\0")
    assert len(data) == 144
    return data + b"".join(struct.pack("<f", value) for value in values)


# The tests start hundreds of these programs, and imports would take most of the time. The programs
# therefore start without the site module, and import little.
PROGRAM = """#!{python} -IS
import sys
words = sys.argv[1:]
{body}
open(words[words.index("--json") + 1], "w").write({record} + "\\n")
sys.exit({code})
"""
CHANGED = """import json, time
record = json.loads({record!r})
{body}"""


def write_step(build: Path, data: dict[str, Any], body: str = "", code: int = 0) -> Path:
    """Writes a program that behaves like a step: runs `body`, writes its record, exits with
    `code`."""
    program = build / data["step"] / data["step"]
    program.parent.mkdir(parents=True)
    record = json.dumps(data)
    parts = (
        {"body": CHANGED.format(record=record, body=body), "record": "json.dumps(record)"}
        if body
        else {"body": "", "record": repr(record)}
    )
    program.write_text(PROGRAM.format(python=sys.executable, code=code, **parts), encoding="utf-8")
    program.chmod(0o755)
    return program
