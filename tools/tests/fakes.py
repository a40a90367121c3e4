"""Made-up records, body files and step programs for the tests."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any, Sequence

TOOLS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOOLS))

PROBLEM = {"systems": 32, "bodies": 8192, "steps": 20, "dt": 0.01, "softening": 0.05,
           "integrator": "euler", "scenario": "galaxies"}
STAIRCASE = (("step00_cpu_omp", "cpu", 40.0), ("step01_gpu_naive", "cuda", 0.5),
             ("step02_layout", "cuda", 0.52), ("step03_tiling", "cuda", 0.1))
CPU = {"name": "Test CPU x 64", "count": 1, "driver": "", "cuda": ""}
GPU = {"name": "Test GPU", "count": 1, "driver": "13.0", "cuda": "13.0"}
EMULATOR = {"name": "hostcuda on Test CPU", "count": 1, "driver": "13.0", "cuda": "13.0"}


def record(step: str, backend: str = "cuda", compute: Sequence[float] = (1.0, 2.0, 4.0),
           **changes: Any) -> dict[str, Any]:
    """Total is compute plus 0.5 s; three repeats, so that the median is the middle one."""
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
    return [record(step, backend, (0.9 * time, time, 1.2 * time)) for step, backend, time in STAIRCASE]


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(data) + "\n" for data in records), encoding="utf-8")
    return path


def bin_bytes(values: Sequence[float], systems: int, bodies: int, scenario: str = "",
              time: float = 0.0, step: int = 0, staggered: int = 0) -> bytes:
    """Written out field by field, so that it does not repeat a mistake of the reader."""
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


PROGRAM = """#!{python}
import json, sys, time
words = sys.argv[1:]
{body}
record = json.loads({record!r})
open(words[words.index("--json") + 1], "w").write(json.dumps(record) + "\\n")
sys.exit({code})
"""


def write_step(build: Path, data: dict[str, Any], body: str = "", code: int = 0) -> Path:
    """A program that behaves like a step: runs `body`, writes its record, exits with `code`."""
    program = build / data["step"] / data["step"]
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM.format(python=sys.executable, body=body, record=json.dumps(data),
                                      code=code), encoding="utf-8")
    program.chmod(0o755)
    return program
