"""Reads, writes and generates bodies in the same way as the programs of nbody-steps."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

import numpy as np

from . import _extension, archives, checks
from .bodies import Bodies

MOST = float(np.finfo(np.float32).max)  # readers reject larger numbers


def from_extension(found: dict[str, Any]) -> Bodies:
    rows = found.pop("rows")
    if len(rows) == 1:
        rows = rows[0]
    positions, velocities, masses = rows[..., 0:3], rows[..., 3:6], rows[..., 6]
    return Bodies(np.ascontiguousarray(positions), np.ascontiguousarray(velocities),
                  np.ascontiguousarray(masses), **found)


def read(file: Union[str, os.PathLike[str]], *, systems: Optional[int] = None, species: str = "",
         columns: str = "", units: Optional[str] = None,
         from_units: Optional[str] = None) -> Bodies:
    """Reads a file of bodies: CSV, tables, BIN, raw, Tipsy, Gadget's binary format, AMUSE's HDF5
    (with h5py) or an archive of REBOUND (with rebound). The content decides the format
    (docs/formats.md). First convert Gadget's HDF5 files with nbody-convert.

    systems     number of systems in the file, if the file does not give it
    species     bodies to keep, such as "dark,star"
    columns     names of the columns of a table without a header line, such as "m,x,y,-,-"
    units       a preset to convert to, if the file has units
    from_units  the preset of the file's units, if the file does not give them. For a Tipsy file
                without units it is required: some programs read masses of such a file in solar
                masses, others in 1e10 solar masses

    Archives of AMUSE and REBOUND allow none of these options, except `units` with their own units.

    A file that is missing or invalid raises a ValueError with a one-line message.
    """
    count = None if systems is None else checks.whole("systems", systems, 1)
    name = checks.path("file", file)
    checks.text("species", species), checks.text("columns", columns)
    for option, preset in (("units", units), ("from_units", from_units)):
        if preset is not None:
            checks.text(option, preset)
    archive = archives.read_archive(name, units, {
        "systems": systems, "species": species, "columns": columns, "from_units": from_units})
    if archive is not None:
        return archive
    return from_extension(_extension.read(name, count, species, columns, units, from_units))


def write(file: Union[str, os.PathLike[str]], bodies: Bodies) -> None:
    """Writes a file of bodies; after an error, no part of the file remains. The extension of the
    file's name decides the format (.csv, .bin, .tipsy, ...; docs/formats.md). CSV and BIN keep
    float64; other formats round to float32. Numbers above 3.4e38, the largest of float32, raise a
    ValueError in every format: use larger units."""
    if not isinstance(bodies, Bodies):
        raise ValueError(f"bodies: a {type(bodies).__name__} is not allowed; "
                         "use nbody_steps.Bodies")
    x, v, m = (checks.float64(name, getattr(bodies, name))
               for name in ("positions", "velocities", "masses"))
    if x.ndim not in (2, 3) or x.shape[-1] != 3 or v.shape != x.shape or m.shape != x.shape[:-1]:
        raise ValueError(f"bodies: shapes {x.shape}, {v.shape}, {m.shape} are not allowed; use "
                         "(n, 3), (n, 3), (n,)")
    rows = np.concatenate((x, v, m[..., np.newaxis]), axis=-1)
    if rows.size == 0:
        raise ValueError("bodies: there are none")
    if not (np.abs(rows) <= MOST).all() or (m < 0).any():
        raise ValueError(f"bodies: values must be finite and at most {MOST:.2g}, and masses 0 or "
                         "more")
    rows = np.ascontiguousarray(rows if rows.ndim == 3 else rows[np.newaxis])
    numbers = (checks.number(name, getattr(bodies, name), low, MOST, allowed)
               for name, low, allowed in (("time", -MOST, "a finite number"),
                                          ("softening", 0, "a finite number, 0 or more"),
                                          ("dt", -MOST, "a finite number")))
    words = (checks.texts(name, getattr(bodies, name)) for name in ("names", "species"))
    _extension.write(checks.path("file", file), rows, *numbers, checks.text("units", bodies.units),
                     *words)


def scenario(name: str, bodies: Optional[int] = None, *, systems: int = 1, seed: int = 1,
             softening: Optional[float] = None, **parameters: float) -> Bodies:
    """Returns the initial conditions of a scenario, in float64. With the same seed, the programs'
    option --scenario makes the same bodies, bit for bit. `scenarios()` lists the names. In names of
    parameters, underscores stand for hyphens: scenario("cold-sphere", virial_ratio=0.5).

    An unknown name, size or parameter raises a ValueError that lists what is allowed.
    """
    count = None if bodies is None else checks.whole("bodies", bodies, 1)
    eps = None
    if softening is not None:
        eps = checks.number("softening", softening, 0, 1e150, "a finite number, 0 or more")
    numbers = {checks.text("parameters", key).replace("_", "-"):
               checks.number(key, value, -np.inf, np.inf, "a finite number")
               for key, value in parameters.items()}
    return from_extension(_extension.scenario(
        checks.text("name", name), count, checks.whole("systems", systems, 1),
        checks.whole("seed", seed, 0, 2**64 - 1), eps, numbers))


def scenarios() -> dict[str, str]:
    """Returns the names of scenarios, each with a one-line description."""
    return dict(_extension.scenarios())
