"""The layouts in which an assignment stores bodies: what a student sees in assignment.h, and the
bytes that the grader copies to the device.

  packed   positions with masses, and velocities, as two arrays of float4
  arrays   seven arrays of float
  records  one array of structs of seven floats
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

LAYOUTS = ("packed", "arrays", "records")
FIELDS = ("x", "y", "z", "vx", "vy", "vz", "mass")

STRUCTS = {
    "packed": """\
struct Bodies {
  int systems;
  int count;  // bodies per system
  const float4* position;  // x, y, z; w is the mass
  const float4* velocity;  // x, y, z; w is 0
};
""",
    "arrays": """\
struct Bodies {
  int systems;
  int count;  // bodies per system
  const float *x, *y, *z;
  const float *vx, *vy, *vz;
  const float* mass;
};
""",
    "records": """\
struct Record {
  float x, y, z, vx, vy, vz, mass;
};

struct Bodies {
  int systems;
  int count;  // bodies per system
  const Record* body;
};
""",
}

# The arguments with which glue() makes a Bodies from the arrays on the device.
ARGUMENTS = {
    "packed": "static_cast<const float4*>(a[0]), static_cast<const float4*>(a[1])",
    "arrays": ", ".join(f"static_cast<const float*>(a[{k}])" for k in range(len(FIELDS))),
    "records": "static_cast<const Record*>(a[0])",
}

WORDS = {
    "packed": "two arrays of `float4`: positions with the mass in `w`, and velocities",
    "arrays": "seven arrays of `float`, one for each coordinate, each velocity and the mass",
    "records": "one array of records of seven floats (28 bytes each)",
}

# Sectors of 32 bytes per request of a warp, if neighbouring threads read neighbouring elements.
SECTORS = {"packed": 16.0, "arrays": 4.0, "records": 4.0}


@dataclass(frozen=True)
class State:
    """Bodies of several systems, in float32: arrays of the shape (systems, count)."""
    columns: dict[str, np.ndarray]

    def __getitem__(self, field: str) -> np.ndarray:
        """Returns a field in float64, for the expected result."""
        return self.columns[field].astype(np.float64)

    def blobs(self, layout: str) -> tuple[bytes, ...]:
        of = self.columns
        if layout == "arrays":
            return tuple(of[field].tobytes() for field in FIELDS)
        if layout == "records":
            return (np.stack([of[field] for field in FIELDS], axis=-1).tobytes(),)
        zero = np.zeros_like(of["x"])
        return (np.stack([of["x"], of["y"], of["z"], of["mass"]], axis=-1).tobytes(),
                np.stack([of["vx"], of["vy"], of["vz"], zero], axis=-1).tobytes())


def random_state(systems: int, count: int, dice: random.Random) -> State:
    """Makes one cloud of bodies per system, with its own centre and drift. The masses span two
    decades."""
    numbers = np.random.default_rng(dice.randrange(1 << 63))
    shape = (systems, count)
    columns = {}
    for field in ("x", "y", "z"):
        centre = numbers.uniform(-0.8, 0.8, (systems, 1))
        columns[field] = (centre + numbers.standard_normal(shape) * 0.5).astype(np.float32)
    for field in ("vx", "vy", "vz"):
        drift = numbers.uniform(0.1, 0.4, (systems, 1)) * numbers.choice([-1, 1], (systems, 1))
        columns[field] = (drift + numbers.standard_normal(shape) * 0.3).astype(np.float32)
    columns["mass"] = (10.0 ** numbers.uniform(-2, 0, shape) / count).astype(np.float32)
    return State(columns)
