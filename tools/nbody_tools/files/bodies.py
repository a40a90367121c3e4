"""Reads the body files that the step programs write: BIN, CSV, and folders of snapshots.

If a file's content does not match its header, reading raises a FileError with the file's name.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Iterator, Sequence

import numpy

from nbody_tools.arguments import ROOT
from nbody_tools.files.bin import MAGIC, SPECIES, VALUES, FileError, read_bin

CSV_COLUMNS = ("m", "x", "y", "z", "vx", "vy", "vz")  # order in which the programs write them
SNAPSHOT_NAME = re.compile(r"snapshot_(\d{8})\.(bin|csv)")


@dataclass
class Bodies:
    """S systems of N bodies at one time, with the other data of the file."""

    positions: numpy.ndarray  # S x N x 3
    velocities: numpy.ndarray  # S x N x 3
    masses: numpy.ndarray  # S x N
    time: float = 0.0
    step: int = 0
    gravity: float = 1.0
    softening: float = 0.0  # 0 if the file contains no softening length
    dt: float = 0.0  # 0 if the file contains no time step
    integrator: str = "euler"
    staggered: bool = False
    precision: str = "float32"  # type of the numbers in the file
    scenario: str = ""
    units: str = ""
    names: list[str] = field(default_factory=list)  # one per body of a system, or empty
    species: list[str] = field(default_factory=list)  # one per body, system after system, or empty

    def only(self, species: Sequence[str]) -> "Bodies":
        """Returns a copy with only the bodies of these species."""
        kinds = numpy.array(self.species, dtype=str).reshape(-1, self.masses.shape[1])
        for one in species:
            if not (kinds == one).any() or (kinds != kinds[0]).any():
                raise FileError(f"no body is '{one}' in every system; species in the file: "
                                f"{', '.join(sorted(set(self.species))) or 'none'}")
        kept = numpy.isin(kinds[0], species)
        names = [name for name, keep in zip(self.names, kept) if keep]
        return replace(self, positions=self.positions[:, kept], velocities=self.velocities[:, kept],
                       masses=self.masses[:, kept], names=names,
                       species=list(kinds[:, kept].ravel()))

    def synchronised_positions(self) -> numpy.ndarray:
        """Returns the positions at the time of the velocities; in a leapfrog checkpoint the stored
        positions are half a step ahead."""
        return (
            self.positions - 0.5 * self.dt * self.velocities if self.staggered else self.positions
        )


def species_list(text: str) -> list[str]:
    """Parses a command-line list such as disk,star."""
    words = text.split(",")
    for word in words:
        if word not in SPECIES or words.count(word) > 1:
            raise argparse.ArgumentTypeError(f"'{text}' is not a list of distinct species from "
                                             f"{', '.join(SPECIES)}")
    return words


def how_it_was_run(first: Bodies, last: Bodies) -> str:
    """Returns a sentence about a run for a caption. If both states are from the same step, as in
    converted files, the sentence contains only the softening."""
    softening = f"softening {last.softening:.3g}" if last.softening else "softening unknown"
    if last.step > first.step:
        return (f"Integrator {last.integrator}, dt {last.dt:.4g}, {softening}, "
                f"{last.step - first.step} steps.")
    return softening.capitalize() + "."


def read_bodies(path: Path) -> Bodies:
    """Reads a body file. Recognises the file's format by its content, as the programs do."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from error
    if data.startswith(MAGIC):
        bodies = _read_bin(path, data)
    else:
        bodies = _read_csv(path, data) if _is_text(data) else _read_foreign(path)
    bodies.scenario = bodies.scenario or Path(path).name
    if not all(
        numpy.isfinite(a).all() for a in (bodies.positions, bodies.velocities, bodies.masses)
    ):
        raise FileError(f"{path}: holds a NaN or an infinity")
    return bodies


def _is_text(data: bytes) -> bool:
    return b"\0" not in data[:1024]


def _read_foreign(path: Path) -> Bodies:
    """Reads a format that only nbody-convert knows (Tipsy, Gadget, raw), by converting the file."""
    converters = sorted(ROOT.glob("build/*/tools/convert/nbody-convert"))
    if not converters:
        raise FileError(
            f"{path}: is neither BIN nor CSV, and nbody-convert, which reads other formats, is "
            "not built"
        )
    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "converted.bin"
        done = subprocess.run(
            [converters[0], path, converted], check=False, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise FileError(" ".join(done.stderr.split()))
        return _read_bin(path, converted.read_bytes())


def _read_bin(path: Path, data: bytes) -> Bodies:
    found = read_bin(path, data)
    values = numpy.frombuffer(found.values, dtype=found.values.typecode)
    values = values.reshape(found.systems, found.bodies, VALUES).astype(numpy.float64)
    return Bodies(positions=values[..., 0:3], velocities=values[..., 3:6], masses=values[..., 6],
                  time=found.time, step=found.step, gravity=found.gravity,
                  softening=found.softening, dt=found.dt, integrator=found.integrator,
                  staggered=found.staggered, precision=f"float{8 * found.values.itemsize}",
                  scenario=found.scenario, units=found.units, species=found.species)


def _read_csv(path: Path, data: bytes) -> Bodies:
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path}: neither BIN (no {MAGIC.decode()} at its start) nor text"
        ) from error
    comments: dict[str, str] = {}
    names: list[str] = []
    species: list[str] = []
    rows: list[list[float]] = []
    header: list[str] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            key, separator, value = line[1:].partition("=")
            if separator:
                comments[key.strip()] = value.strip()
        elif not line.strip():
            continue
        elif not header:
            header = ["m" if cell.strip() == "mass" else cell.strip() for cell in line.split(",")]
            if sorted(set(header) - {"id", "name", "species"}) != sorted(CSV_COLUMNS):
                raise FileError(f"{path}:{number}: the columns must be "
                                f"id,{','.join(CSV_COLUMNS)} (or name instead of id; "
                                "species may be added)")
        else:
            cells = dict(zip(header, line.split(",")))
            if line.count(",") + 1 != len(header):
                raise FileError(f"{path}:{number}: {line.count(',') + 1} values "
                                f"instead of {len(header)}")
            names += [cells["name"].strip()] if "name" in header else []
            species += [_csv_species(path, number, cells)] if "species" in header else []
            rows.append(_csv_row(path, number, cells))
    if not rows:
        raise FileError(f"{path}: holds no bodies")
    return _bodies_from_csv(path, comments, rows, names, species)


def _csv_row(path: Path, number: int, cells: dict[str, str]) -> list[float]:
    try:
        return [float(cells[column]) for column in CSV_COLUMNS]
    except ValueError as error:
        raise FileError(f"{path}:{number}: {error}") from error


def _csv_species(path: Path, number: int, cells: dict[str, str]) -> str:
    word = cells["species"].strip()
    if word not in SPECIES:
        raise FileError(f"{path}:{number}: the species is {word!r}; known: {', '.join(SPECIES)}")
    return word


def _bodies_from_csv(path: Path, comments: dict[str, str], rows: list[list[float]],
                     names: list[str], species: list[str]) -> Bodies:
    try:
        systems = int(comments.get("systems", "1"))
        numbers = {key: float(comments.get(key, default))
                   for key, default in (("time", "0"), ("G", "1"), ("softening", "0"), ("dt", "0"))}
        step = int(comments.get("step", "0"))
    except ValueError as error:
        raise FileError(f"{path}: a '# key=value' line: {error}") from error
    if len(rows) != int(comments.get("bodies", len(rows))):
        raise FileError(
            f"{path}: damaged: {len(rows)} bodies instead of {comments['bodies']}"
        )
    if systems < 1 or len(rows) % systems:
        raise FileError(f"{path}: {len(rows)} bodies cannot be divided into {systems} systems")
    values = numpy.array(rows).reshape(systems, -1, VALUES)
    return Bodies(positions=values[..., 1:4], velocities=values[..., 4:7], masses=values[..., 0],
                  time=numbers["time"], step=step, gravity=numbers["G"],
                  softening=numbers["softening"], dt=numbers["dt"],
                  integrator=comments.get("integrator", "euler"),
                  staggered=comments.get("staggered", "0") in ("1", "true"),
                  scenario=comments.get("scenario", ""), units=comments.get("units", ""),
                  names=names[:values.shape[1]], species=species)


def snapshot_files(folder: Path) -> list[Path]:
    """Returns the snapshot files of one run, in the order of their steps."""
    folder = Path(folder)
    files = sorted(file for file in folder.glob("snapshot_*") if SNAPSHOT_NAME.fullmatch(file.name))
    if not files:
        raise FileError(f"{folder}: holds no snapshot_NNNNNNNN.bin or .csv")
    return files


def read_snapshots(folder: Path) -> list[Bodies]:
    """Reads all snapshots of one run; they must have the same bodies."""
    return list(each_snapshot(folder))


def each_snapshot(folder: Path) -> Iterator[Bodies]:
    """Yields the snapshots one by one, for runs that do not fit into memory."""
    files = snapshot_files(folder)
    shape = None
    for file in files:
        snapshot = read_bodies(file)
        shape = shape or snapshot.positions.shape
        if snapshot.positions.shape != shape:
            raise FileError(
                f"{file}: has a different number of systems or bodies than {files[0].name}"
            )
        yield snapshot
