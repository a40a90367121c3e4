"""Reads and writes files of bodies with the functions of common/io, which ctypes calls in the
library nbody_files (tools/files/files.cpp). Uses only Python's standard library, because a machine
with a GPU may lack NumPy."""

from __future__ import annotations

import ctypes
import weakref
from array import array
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nbody_tools.arguments import ROOT, ToolError

LIBRARIES = "build/*/tools/files/libnbody_files.*"
VALUES = 7  # x, y, z, vx, vy, vz, mass
SPECIES = ("gas", "dark", "disk", "bulge", "star", "boundary")  # common/io/species.h
INTEGRATORS = ("euler", "leapfrog")


class FileError(ToolError):
    """An invalid file; the message contains the file's name, and the line if there is one."""


@dataclass(kw_only=True)
class Facts:
    """The data in a file, except its numbers."""

    time: float
    step: int
    softening: float  # 0 if the file contains no softening length
    dt: float  # 0 if the file contains no time step
    integrator: str
    staggered: bool
    precision: str  # type of the numbers in a BIN file
    scenario: str
    units: str
    names: list[str]  # one per body of a system, or empty
    species: list[str]  # one per body, system after system, or empty


@dataclass(frozen=True)
class Content:
    """The content of a file: VALUES numbers per body, system after system."""

    values: memoryview[float]  # float64
    systems: int
    bodies: int
    facts: Facts


class _File(ctypes.Structure):
    """The struct NbodyFile of files.cpp."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("systems", "bodies", "step")),
        *((name, ctypes.c_double) for name in ("time", "softening", "dt")),
        *((name, ctypes.c_int32) for name in ("integrator", "staggered", "float64")),
        ("values", ctypes.c_void_p),
        *((name, ctypes.c_char_p) for name in ("scenario", "units", "names")),
        ("species", ctypes.c_void_p),
    ]


def is_built() -> bool:
    return any(ROOT.glob(LIBRARIES))


def read_file(path: Path) -> Content:
    """Reads a file in any format of docs/formats.md; its content decides which format it is."""
    library, file = _library(ROOT), ctypes.POINTER(_File)()
    _require(library.nbody_files_read(bytes(Path(path)), ctypes.byref(file)))
    found = file.contents
    count = found.systems * found.bodies
    memory = (ctypes.c_double * (VALUES * count)).from_address(found.values)
    # The memory is Python's until no view of it is left.
    weakref.finalize(memory, library.nbody_files_free, file)
    numbers = ctypes.string_at(found.species, count) if found.species else b""
    facts = Facts(time=found.time, step=found.step, softening=found.softening, dt=found.dt,
                  integrator=INTEGRATORS[found.integrator], staggered=bool(found.staggered),
                  precision="float64" if found.float64 else "float32",
                  scenario=found.scenario.decode(), units=found.units.decode(),
                  names=found.names.decode().splitlines(),
                  species=[SPECIES[number] for number in numbers])
    return Content(memoryview(memory).cast("B").cast("d"), found.systems, found.bodies, facts)


def write_bin(path: Path, values: array, scenario: str = "", softening: float = 0.0,
              dt: float = 0.0) -> Path:
    """Writes one system of float32 bodies at time 0 to a file PATH.bin."""
    floats = (ctypes.c_float * len(values)).from_buffer(values)
    _require(_library(ROOT).nbody_files_write(bytes(path), floats, len(values) // VALUES,
                                              scenario.encode(), ctypes.c_double(softening),
                                              ctypes.c_double(dt)))
    return path


def _require(message: bytes | None) -> None:
    if message is not None:
        raise FileError(message.decode())


@cache
def _library(root: Path) -> ctypes.CDLL:
    """Loads the newest library of the build folders."""
    built = sorted(root.glob(LIBRARIES), key=lambda file: file.stat().st_mtime)
    if not built:
        raise FileError(f"{root / LIBRARIES}: is not built, and reads and writes files of bodies: "
                        "./nbody build nbody_files")
    try:
        library = ctypes.CDLL(str(built[-1]))
    except OSError as error:
        raise FileError(f"{error}: ./nbody build nbody_files builds it for this machine") from error
    library.nbody_files_read.restype = library.nbody_files_write.restype = ctypes.c_char_p
    library.nbody_files_free.restype = None
    return library
