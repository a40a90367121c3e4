"""Makes the bodies for all programs of a comparison, and checks the programs' forces.

This module uses only Python's standard library, because a machine with a GPU may lack NumPy. Bodies
begin at rest, and dt is a power of two, so after one step of length dt, a velocity is exactly dt
times the acceleration.
"""

from __future__ import annotations

import math
import random
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from nbody_tools.arguments import Failed
from nbody_tools.files.library import VALUES, FileError, read_file, write_bin

DT = 2.0 ** -10
SOFTENING = 2.0 ** -5
MASSES = ("different", "equal")
PLUMMER, NEWTON = "plummer", "newton"  # the laws of force with and without softening
# The error of a million float32 additions is smaller than MAX_ERROR, and the error of a wrong force
# is larger.
MAX_ERROR = 1e-4
# When a run of several steps is checked, all bodies start with this velocity. They are at rest
# relative to each other, so the forces hardly change.
VELOCITY = (1.0, -0.5, 0.25)
STEPS = 2
MAX_MOTION_ERROR = 1e-2
SAMPLED_INTERACTIONS = 4_000_000


@dataclass(frozen=True)
class Bodies:
    path: Path
    values: array  # float32, VALUES per body

    @property
    def count(self) -> int:
        return len(self.values) // VALUES


def plummer_sphere(path: Path, count: int, masses: str, seed: int = 1) -> Bodies:
    """Writes a Plummer sphere at rest, truncated at ten scale lengths, with a mass of about 1."""
    chance = random.Random(seed)
    values = array("f")
    while len(values) < VALUES * count:
        enclosed = chance.random()
        radius = 1 / math.sqrt(enclosed ** (-2 / 3) - 1) if enclosed > 0 else 0.0
        if radius > 10:
            continue
        z, angle = chance.uniform(-1, 1), chance.uniform(0, 2 * math.pi)
        across = math.sqrt(1 - z * z)
        mass = chance.uniform(0.5, 1.5) if masses == "different" else 1.0
        values.extend(
            (
                radius * across * math.cos(angle),
                radius * across * math.sin(angle),
                radius * z,
                0,
                0,
                0,
                mass / count,
            )
        )
    return Bodies(write_bin(path, values, "plummer", SOFTENING, DT), values)


def moving(bodies: Bodies, path: Path) -> Bodies:
    """Writes the same bodies, moving at VELOCITY."""
    values = array("f", bodies.values)
    for k, component in enumerate(VELOCITY):
        values[3 + k::VALUES] = array("f", [component] * bodies.count)
    return Bodies(write_bin(path, values, "moving", SOFTENING, DT), values)


def read_state(path: Path, count: int) -> memoryview[float]:
    if not path.exists():
        raise Failed("wrote no bodies")
    try:
        found = read_file(path)
    except FileError as error:
        raise Failed(f"wrote a file that cannot be read: {error}") from error
    if found.systems * found.bodies != count:
        raise Failed(f"wrote {found.systems} systems of {found.bodies} bodies, not {count} bodies")
    return found.values


@dataclass(frozen=True)
class Reference:
    """The accelerations of the sampled bodies, summed in float64."""

    bodies: Bodies
    sampled: Sequence[int]
    accelerations: Sequence[tuple[float, float, float]]

    def error(self, after_a_step: Sequence[float]) -> float:
        """Returns the RMS error of the accelerations divided by their RMS; NaN if any value is
        NaN."""
        wrong = right = 0.0
        for i, exact in zip(self.sampled, self.accelerations):
            found = (v / DT for v in after_a_step[VALUES * i + 3:VALUES * i + 6])
            wrong += sum((a - b) ** 2 for a, b in zip(found, exact))
            right += sum(b * b for b in exact)
        return math.sqrt(wrong / right)

    def motion_errors(self, after: Sequence[float]) -> tuple[float, float]:
        """Returns the RMS errors of the changes of velocity and position during STEPS steps, each
        divided by the RMS of that change. The bodies start at VELOCITY. The velocity must change by
        the acceleration times the time, and the position by the mean velocity times the time."""
        time = STEPS * DT
        kick, drift = [0.0, 0.0], [0.0, 0.0]
        for i, exact in zip(self.sampled, self.accelerations):
            for k, v in enumerate(VELOCITY):
                x, found = after[VALUES * i + k], after[VALUES * i + 3 + k]
                for sums, change, right in (
                    (kick, found - v, time * exact[k]),
                    (drift, x - self.bodies.values[VALUES * i + k], time * (v + found) / 2),
                ):
                    sums[0] += (change - right) ** 2
                    sums[1] += right ** 2
        return math.sqrt(kick[0] / kick[1]), math.sqrt(drift[0] / drift[1])


def reference(bodies: Bodies, law: str) -> Reference:
    count = bodies.count
    samples = min(count, max(16, min(256, SAMPLED_INTERACTIONS // count)))
    sampled = [k * count // samples for k in range(samples)]
    softening = SOFTENING if law == PLUMMER else 0.0
    return Reference(
        bodies, sampled, [acceleration(bodies.values, i, softening**2) for i in sampled]
    )


def acceleration(values: array, i: int, softening_squared: float) -> tuple[float, float, float]:
    xi, yi, zi = values[VALUES * i:VALUES * i + 3]
    ax = ay = az = 0.0
    for x, y, z, mass in zip(
        values[0::VALUES], values[1::VALUES], values[2::VALUES], values[6::VALUES]
    ):
        dx, dy, dz = x - xi, y - yi, z - zi
        squared = dx * dx + dy * dy + dz * dz + softening_squared
        if squared > 0:
            s = mass / (squared * math.sqrt(squared))
            ax += s * dx
            ay += s * dy
            az += s * dz
    return ax, ay, az
