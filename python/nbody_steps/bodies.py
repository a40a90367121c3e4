"""The type of bodies that are read from files, made by scenarios, or converted."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np


@dataclass
class Bodies:
    """The state of one system of n bodies, or of s systems. With s systems, the first axis of each
    array is the system."""

    positions: np.ndarray  #: (n, 3), float64
    velocities: np.ndarray  #: (n, 3), float64
    masses: np.ndarray  #: (n,), float64
    time: float = 0.0
    softening: float = 0.0  #: 0: not in the file
    dt: float = 0.0  #: the scenario's time step; 0: not in the file
    units: str = ""  #: a preset ("henon", "au-msun-yr2pi", "kpc-msun", "kpc-100kms"), or any text
    names: list[str] = field(default_factory=list)  #: one per body of a system, or none
    #: one per body, or none: gas, dark, disk, bulge, star, boundary
    species: list[str] = field(default_factory=list)

    def __eq__(self, other: object) -> bool:
        """Returns whether all fields are equal, arrays with the same shapes and numbers. As always,
        NaN differs from NaN."""
        if not isinstance(other, Bodies):
            return NotImplemented
        return all(np.array_equal(getattr(self, one.name), getattr(other, one.name))
                   for one in fields(self))
