"""Writes bodies as HDF5 in the layout that Gadget introduced and SWIFT also reads."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Mapping

import numpy

from nbody_tools.arguments import ToolError
from nbody_tools.handoff.problem import Problem

INTEGER = numpy.int32
TYPES = 6  # Gadget's and SWIFT's types of bodies
# Each dataset's unit, as exponents of the units of mass M, length L, time t, current I and
# temperature T. The engines do not need these exponents, but swiftsimio does.
EXPONENTS = {"Coordinates": {"L": 1}, "Velocities": {"L": 1, "t": -1}, "Masses": {"M": 1},
             "ParticleIDs": {}}


class Missing(ToolError):
    """This machine lacks a package that the command needs."""

    code = 77


def require_h5py() -> None:
    try:
        import h5py  # noqa: F401
    except ImportError as error:
        raise Missing(f"{sys.executable} lacks the Python package h5py: apt-get install "
                      "python3-h5py, or set PYTHON to an interpreter that has it") from error


def write(path: Path, problem: Problem, types: numpy.ndarray, header: Mapping[str, object],
          units: Mapping[str, numpy.ndarray]) -> None:
    """Writes the bodies of a problem to a file. `types` contains the type that each body has in the
    engine. A ParticleID is the body's place in the source, counted from 1."""
    import h5py

    counts = numpy.bincount(types, minlength=TYPES)
    zeros = numpy.zeros(TYPES)
    attributes = {"NumPart_ThisFile": counts.astype(numpy.uint32),
                  "NumPart_Total": counts.astype(numpy.uint32),
                  "NumPart_Total_HighWord": zeros.astype(numpy.uint32), "MassTable": zeros,
                  "Time": numpy.array([problem.begin]), "Redshift": numpy.zeros(1),
                  "NumFilesPerSnapshot": numpy.array([1], INTEGER),
                  **header}
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with h5py.File(temporary, "w") as file:
        file.create_group("Header").attrs.update(attributes)
        if units:
            file.create_group("Units").attrs.update(units)
        for kind in numpy.flatnonzero(counts):
            of_type = numpy.flatnonzero(types == kind)
            group = file.create_group(f"PartType{kind}")
            group["Coordinates"] = problem.positions[of_type]
            group["Velocities"] = problem.velocities[of_type]
            group["Masses"] = problem.masses[of_type]
            group["ParticleIDs"] = (of_type + 1).astype(numpy.uint32)
            for name, exponents in EXPONENTS.items():
                for unit in "MLtIT":
                    exponent = numpy.array([exponents.get(unit, 0)], dtype=float)
                    group[name].attrs[f"U_{unit} exponent"] = exponent
    os.replace(temporary, path)
