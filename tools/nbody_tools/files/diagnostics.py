"""Reads the output of --diagnostics and --activity-map. If a file is damaged, the error message
gives the file and the line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy

from nbody_tools.files.bodies import FileError

COLUMNS = ("step", "time", "system", "kinetic", "potential", "energy", "energy_error", "momentum_x",
           "momentum_y", "momentum_z", "angular_momentum_x", "angular_momentum_y",
           "angular_momentum_z", "virial_ratio", "centre_x", "centre_y", "centre_z", "r10", "r25",
           "r50", "r75", "r90", "potential_error")
RADII = {"10 %": "r10", "25 %": "r25", "50 %": "r50", "75 %": "r75", "90 %": "r90"}
MAX_OUTSIDE = 1e-9  # rounding may make a map's shares exceed 1 by this much


@dataclass(frozen=True)
class DiagnosticsTable:
    values: dict[str, numpy.ndarray]  # column -> array of times x systems

    systems = property(lambda self: self.values["time"].shape[1])

    def of(self, system: int, *columns: str) -> numpy.ndarray:
        """Returns one column as an array over times, or several columns as an array of times x
        columns."""
        chosen = numpy.stack([self.values[column][:, system] for column in columns], axis=-1)
        return chosen[:, 0] if len(columns) == 1 else chosen

    def change(self, system: int, vector: str) -> numpy.ndarray:
        """Returns |v(t) - v(0)| at every time t, for the vector v with this name."""
        v = self.of(system, *(f"{vector}_{axis}" for axis in "xyz"))
        return numpy.linalg.norm(v - v[0], axis=1)


@dataclass(frozen=True)
class Activity:
    shares: numpy.ndarray  # row 0 has the lowest y
    extent: float
    positions: int


def read_diagnostics(path: Path) -> DiagnosticsTable:
    lines = _lines(path)
    if lines[0] != ",".join(COLUMNS):
        raise FileError(f"{path}:1: is not the first line of a file that --diagnostics wrote")
    rows = [_numbers(path, number, line, len(COLUMNS))
            for number, line in enumerate(lines[1:], start=2)]
    if not rows:
        raise FileError(f"{path}: holds no rows")
    table = numpy.array(rows)
    systems = int(table[:, COLUMNS.index("system")].max()) + 1
    expected = numpy.arange(len(table)) % max(systems, 1)
    if systems < 1 or len(table) % systems or (table[:, COLUMNS.index("system")] != expected).any():
        raise FileError(f"{path}: its rows do not list all {systems:g} systems at each time")
    return DiagnosticsTable({name: table[:, k].reshape(-1, systems)
                             for k, name in enumerate(COLUMNS)})


def read_activity(path: Path) -> Activity:
    lines = _lines(path)
    comments = dict(line[1:].strip().split("=", 1) for line in lines
                    if line.startswith("#") and "=" in line)
    try:
        cells, positions = int(comments["cells"]), int(comments["positions"])
        extent = float(comments["extent"])
    except (KeyError, ValueError) as error:
        raise FileError(f"{path}: is not a map that --activity-map wrote: '# cells', '# extent' or "
                        "'# positions' is missing or not a number") from error
    if cells < 1 or not 0 < extent < numpy.inf:
        raise FileError(f"{path}: '# cells' and '# extent' must be greater than 0")
    numbered = [(number, line) for number, line in enumerate(lines, start=1)
                if not line.startswith("#")]
    if len(numbered) != cells:
        raise FileError(f"{path}: {len(numbered)} lines of cells instead of {cells}")
    shares = numpy.array([_numbers(path, number, line, cells) for number, line in numbered])
    if shares.min() < 0 or shares.sum() > 1 + MAX_OUTSIDE:
        raise FileError(f"{path}: a value cannot be a share of the bodies")
    return Activity(shares[::-1], extent, positions)


def _lines(path: Path) -> list[str]:
    try:
        text = Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read: {error}") from error
    if not text.endswith("\n"):
        raise FileError(f"{path}: is empty or its last line is cut short")
    return text.splitlines()


def _numbers(path: Path, number: int, line: str, count: int) -> numpy.ndarray:
    try:
        values = numpy.array(line.split(","), dtype=float)
    except ValueError as error:
        raise FileError(f"{path}:{number}: {error}") from error
    if len(values) != count:
        raise FileError(f"{path}:{number}: {len(values)} values instead of {count}")
    if not numpy.isfinite(values).all():
        raise FileError(f"{path}:{number}: holds a NaN or an infinity")
    return values
