"""Reads files of bodies, and folders of snapshots, into NumPy's arrays. An invalid file raises a
FileError whose message names the file."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Iterator, Sequence

import numpy

from nbody_tools.files.library import SPECIES, VALUES, Facts, FileError, read_file

SNAPSHOT_NAME = re.compile(r"snapshot_(\d{8})\.(bin|csv)")


@dataclass(kw_only=True)
class Bodies(Facts):
    """S systems of N bodies at one time, with the other data of the file."""

    positions: numpy.ndarray  # S x N x 3
    velocities: numpy.ndarray  # S x N x 3
    masses: numpy.ndarray  # S x N
    gravity: float = 1.0  # the readers reject other values

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


def which_is_shown(bodies: Bodies) -> str:
    """Returns the beginning of a caption of a figure that shows one system: empty if there is only
    one, otherwise a sentence and a space."""
    systems = bodies.positions.shape[0]
    return f"Only the first of {systems} systems is shown. " if systems > 1 else ""


def read_bodies(path: Path) -> Bodies:
    """Reads a body file. Recognises the file's format by its content, as the programs do."""
    found = read_file(path)
    values = numpy.frombuffer(found.values).reshape(found.systems, found.bodies, VALUES)
    bodies = Bodies(positions=values[..., 0:3], velocities=values[..., 3:6], masses=values[..., 6],
                    **vars(found.facts))
    bodies.scenario = bodies.scenario or Path(path).name
    return bodies


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
