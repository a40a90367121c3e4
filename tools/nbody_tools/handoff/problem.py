"""Defines the problem for another engine: one system of bodies, its units and the time to
simulate."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Optional

import numpy

from nbody_tools.arguments import ToolError
from nbody_tools.files.library import SPECIES
from nbody_tools.files.bodies import Bodies

# common/io/units.h defines these constants.
AU = 149597870700.0  # m
KPC = 1e3 * 648000 / math.pi * AU  # m
SUN_GM = 1.3271244e20  # m^3 s^-2
PRESETS = {"au-msun-yr2pi": (AU, SUN_GM), "kpc-msun": (KPC, SUN_GM),
           "kpc-100kms": (KPC, KPC * 1e10)}
UNITS_IN_WORDS = re.compile(r"(\S+) kpc, (\S+) Msun")


@dataclass(frozen=True)
class Units:
    """The units of the bodies in cgs. Without a physical scale, each of them is 1."""

    length: float = 1.0  # cm
    mass: float = 1.0  # g
    velocity: float = 1.0  # cm/s
    name: str = ""

    @property
    def time(self) -> float:
        return self.length / self.velocity


def units_of(text: str, solar_mass: float) -> Units:
    """Returns the units that a file specifies. `solar_mass` is the Sun's mass in grams as the
    engine defines it. Programs that convert the engine's output with the same value therefore find
    as many solar masses as the file has."""
    pair = PRESETS.get(text)
    if pair is None and (words := UNITS_IN_WORDS.fullmatch(text)):
        try:
            pair = float(words[1]) * KPC, float(words[2]) * SUN_GM
        except ValueError:
            pair = None
    if pair is None or not all(math.isfinite(one) and one > 0 for one in pair):
        return Units()
    length, mass = pair
    return Units(length * 1e2, mass / SUN_GM * solar_mass, math.sqrt(mass / length) * 1e2, text)


@dataclass(frozen=True)
class Problem:
    positions: numpy.ndarray  # N x 3
    velocities: numpy.ndarray  # N x 3
    masses: numpy.ndarray  # N
    species: numpy.ndarray  # N indices into SPECIES
    begin: float
    end: float
    dt: float
    softening: float
    snapshots: int
    gravity: float
    units: str
    source: str

    @property
    def bodies(self) -> int:
        return len(self.masses)


def problem_of(bodies: Bodies, source: str, system: Optional[int], time: Optional[float],
               softening: Optional[float], dt: Optional[float], snapshots: int) -> Problem:
    """Returns the problem. Raises ToolError if an engine would reject the bodies, or if the
    softening length is unknown."""
    systems = len(bodies.masses)
    if system is None and systems > 1:
        raise ToolError(f"{source}: holds {systems} systems, but an engine simulates one: choose "
                        f"it with --system 0 to {systems - 1}")
    chosen = system or 0
    if chosen >= systems:
        raise ToolError(f"--system {chosen}: {source} holds {systems}, numbered from 0")
    softening = softening or bodies.softening
    dt = dt or abs(bodies.dt) or 0.01
    if not softening:
        raise ToolError(f"{source}: does not give a softening length: set it with --softening")
    masses = bodies.masses[chosen]
    if not (masses > 0).all():
        where = int(numpy.flatnonzero(~(masses > 0))[0])
        raise ToolError(f"{source}: body {where + 1} has the mass {masses[where]:g}; the engines "
                        "need masses greater than 0")
    kinds = numpy.full(len(masses), SPECIES.index("dark"))
    if bodies.species:
        words = bodies.species[chosen * len(masses):(chosen + 1) * len(masses)]
        kinds = numpy.array([SPECIES.index(word) for word in words])
    end = bodies.time + (time or 1000 * dt)
    if not bodies.time < end < math.inf:
        raise ToolError(f"{source}: begins at time {bodies.time:g}, and a simulation of "
                        f"{time or 1000 * dt:g} would end at {end:g}: set it with --time")
    return Problem(bodies.synchronised_positions()[chosen], bodies.velocities[chosen], masses,
                   kinds, bodies.time, end, dt, softening, snapshots,
                   bodies.gravity, bodies.units, source)
