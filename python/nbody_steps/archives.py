"""Reads AMUSE's HDF5 files and REBOUND's archives. AMUSE's files need h5py, REBOUND's need
rebound."""

from __future__ import annotations

import math
import os
import re
import warnings
from typing import Any, Callable, Iterator, Optional

import numpy as np

from .adapters import KM_PER_KPC, KPC_MSUN_IN_KMS, package, particles_of
from .bodies import Bodies

HDF5, REBOUND = b"\x89HDF\r\n\x1a\n", b"REBOUND Binary File"
MSUN_IN_KG = 1.988409870698051e30  # GM of the Sun (IAU 2015 B3) over G (CODATA 2018)
M_PER_KPC = 1000 * KM_PER_KPC
# Matches one word of a unit string of AMUSE. An example of such a string:
# (1000.0 * (system.get('S.I.').base('length')**2)).
WORD = re.compile(r"\s*(system\.get\('([^']*)'\)\.base\('([^']*)'\)|\*\*|[-+]?[\d.]+(?:e[-+]?\d+)?|"
                  r"[()*/])")
Unit = tuple[float, dict[str, float], str]  # factor, powers of bases, name of the system


def read_archive(file: str, units: Optional[str], options: dict[str, Any]) -> Optional[Bodies]:
    """Returns the last state in an archive of AMUSE or REBOUND, or None for another file. `options`
    are those that an archive cannot have; a value that is not empty raises a ValueError. Takes no
    bytes from pipes and FIFOs, which only the reader of the other formats may read."""
    if not os.path.isfile(file):
        return None
    try:
        with open(file, "rb") as opened:
            start = opened.read(len(REBOUND))
    except OSError:
        return None  # the reader of the other formats reports the error
    if not start.startswith(HDF5) and start != REBOUND:
        return None
    for name, value in options.items():
        if value:
            raise ValueError(f"{name}: {value!r} is not allowed; {file} is an archive of AMUSE or "
                             "REBOUND, which is read as it is")
    bodies = whole(file, read_amuse if start.startswith(HDF5) else read_rebound)
    if units is not None and units != bodies.units:
        raise ValueError(f"{file}: units {units!r} are not allowed; the archive has "
                         f"{bodies.units or 'units without a name'}")
    return bodies


def whole(file: str, reader: Callable[[str], Bodies]) -> Bodies:
    """Reads an archive. Raises a ValueError if it is damaged, or has bodies that no other file may
    have."""
    try:
        bodies = reader(file)
        rows = np.column_stack((bodies.positions, bodies.velocities, bodies.masses))
    except ImportError:
        raise
    except Exception as error:  # h5py and rebound raise many kinds for damaged files
        text = str(error).partition("\n")[0]
        if isinstance(error, ValueError) and text.startswith(f"{file}: "):
            raise
        raise ValueError(f"{file}: cannot be read ({text or type(error).__name__})") from None
    if len(rows) == 0:
        raise ValueError(f"{file} holds no bodies")
    if not (np.isfinite(rows).all() and np.isfinite(bodies.time) and (bodies.masses >= 0).all()):
        raise ValueError(f"{file}: numbers must be finite, and masses 0 or more")
    return bodies


def read_rebound(file: str) -> Bodies:
    """Returns the last state, synchronized: integrators that combine the half steps of two steps
    save bodies in between. REBOUND only warns if the end of an archive is damaged, and then takes
    an earlier state."""
    rebound = package("rebound", "a REBOUND archive")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        archive = rebound.Simulationarchive(file)
    for warning in said:
        if "corrupt" in str(warning.message):
            raise ValueError(f"{file}: the archive is damaged or truncated")
    last = archive[-1]
    last.synchronize()
    return particles_of(last)


def read_amuse(file: str) -> Bodies:
    """Returns the newest particles in a file of AMUSE (write_set_to_file, version 2.0)."""
    h5py = package("h5py", "an HDF5 file")
    with h5py.File(file, "r") as opened:
        versions = opened.get("data")
        if "AMUSE_INF" not in opened or versions is None or len(versions) == 0:
            raise ValueError(f"{file}: an HDF5 file, but not AMUSE's; convert Gadget's files with "
                             "nbody-convert")
        newest = versions[max(versions)]
        columns = newest["attributes"]
        if "mass" not in columns:
            raise ValueError(f"{file}: the particles have no mass")
        mass, system = column(file, columns, "mass", {"mass": 1})
        found = [column(file, columns, name, {"length": 1}, system)[0] for name in ("x", "y", "z")]
        speed = {"length": 1, "time": -1}
        found += [column(file, columns, name, speed, system)[0] if name in columns
                  else np.zeros(len(mass)) for name in ("vx", "vy", "vz")]
        time = timestamp(file, newest.attrs, system)
    x, v = np.stack(found[:3], axis=1), np.stack(found[3:], axis=1)
    if system != "S.I.":
        return Bodies(x, v, mass, time)  # AMUSE's units for N-body problems, in which G is 1
    speed_of_unit = 1000 * KPC_MSUN_IN_KMS  # m/s
    return Bodies(x / M_PER_KPC, v / speed_of_unit, mass / MSUN_IN_KG,
                  time * speed_of_unit / M_PER_KPC, units="kpc-msun")


def timestamp(file: str, attributes: Any, system: str) -> float:
    """Returns the time in the base units of AMUSE's unit system, and 0 if there is none."""
    if "timestamp" not in attributes:
        return 0.0
    unit = text_of(attributes["timestamp_unit"])
    factor, powers, found = parse_unit(file, unit)
    if powers != {"time": 1}:
        return 0.0
    if found != system:
        raise ValueError(f"{file}: the timestamp is in {unit}, which is not allowed; use a unit of "
                         "time in the unit system of the masses")
    return factor * float(attributes["timestamp"])


def text_of(value: Any) -> str:
    return value.decode("ascii") if isinstance(value, bytes) else str(value)


def column(file: str, columns: Any, name: str, wanted: dict[str, float],
           system: Optional[str] = None) -> tuple[np.ndarray, str]:
    """Returns a column of numbers in the base units of AMUSE's unit system, and the name of that
    system."""
    if name not in columns:
        raise ValueError(f"{file}: the particles have no {name}")
    factor, powers, found = parse_unit(file, text_of(columns[name].attrs["units"]))
    if powers != wanted or (system is not None and found != system):
        raise ValueError(f"{file}: {name} is in {text_of(columns[name].attrs['units'])}, which is "
                         "not allowed; use a unit of the right dimensions, in the unit system of "
                         "the masses")
    values = columns[name][:]
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise ValueError(f"{file}: {name} is not one number per particle")
    return factor * values.astype(np.float64), found


def parse_unit(file: str, text: str) -> Unit:
    """Returns the meaning of one of AMUSE's unit strings: products, quotients and powers."""
    words = list(words_of(file, text))
    unit, rest = parse_product(file, text, words)
    if rest or not math.isfinite(unit[0]):
        raise ValueError(f"{file}: {text!r} is not one of AMUSE's units")
    return unit[0], {base: power for base, power in unit[1].items() if power != 0}, unit[2]


def words_of(file: str, text: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(text.rstrip()):
        found = WORD.match(text, at)
        if not found:
            raise ValueError(f"{file}: {text!r} is not one of AMUSE's units")
        yield found
        at = found.end()


def parse_product(file: str, text: str, words: list[re.Match[str]]
                  ) -> tuple[Unit, list[re.Match[str]]]:
    unit, words = parse_power(file, text, words)
    while words and words[0][1] in "*/":
        sign = 1 if words[0][1] == "*" else -1
        other, words = parse_power(file, text, words[1:])
        powers = dict(unit[1])
        for base, power in other[1].items():
            powers[base] = powers.get(base, 0) + sign * power
        if unit[2] and other[2] and unit[2] != other[2]:
            raise ValueError(f"{file}: {text!r} has units of {unit[2]} and of {other[2]}, which is "
                             "not allowed; use one unit system")
        unit = unit[0] * other[0] ** sign, powers, unit[2] or other[2]
    return unit, words


def parse_power(file: str, text: str, words: list[re.Match[str]]
                ) -> tuple[Unit, list[re.Match[str]]]:
    if not words:
        raise ValueError(f"{file}: {text!r} is not one of AMUSE's units")
    word, words = words[0], words[1:]
    unit: Unit
    if word[2]:
        unit = 1.0, {word[3]: 1.0}, word[2]
    elif word[1] == "(":
        unit, words = parse_product(file, text, words)
        if not words or words[0][1] != ")":
            raise ValueError(f"{file}: {text!r} is not one of AMUSE's units")
        words = words[1:]
    else:
        try:
            unit = float(word[1]), {}, ""
        except ValueError:
            raise ValueError(f"{file}: {text!r} is not one of AMUSE's units") from None
    if len(words) > 1 and words[0][1] == "**":
        try:
            power = float(words[1][1])
        except ValueError:
            raise ValueError(f"{file}: {text!r} is not one of AMUSE's units") from None
        unit = unit[0] ** power, {base: p * power for base, p in unit[1].items()}, unit[2]
        words = words[2:]
    return unit, words
