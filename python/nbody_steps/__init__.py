"""Gravity of N bodies: accelerations, potentials and jerks by direct sum or by a tree.

G is 1, and softening is Plummer's. Arrays are numpy arrays of float32 or float64. Arrays of
PyTorch, JAX and other libraries in host memory are read without a copy (DLPack).

    import nbody_steps as nb
    bodies = nb.scenario("plummer", bodies=4096)
    a = nb.accelerations(bodies.positions, bodies.masses, bodies.softening)
"""

from importlib.metadata import PackageNotFoundError, version

from .adapters import from_rebound, from_yt, galpy_field, to_rebound, to_yt
from .bodies import Bodies
from .files import read, scenario, scenarios, write
from .gravity import accelerations, jerk, potential
from .simulation import simulate

try:
    __version__ = version("nbody-steps-gravity")
except PackageNotFoundError:  # run from a build folder
    __version__ = "unknown"

__all__ = [
    "Bodies",
    "accelerations",
    "from_rebound",
    "from_yt",
    "galpy_field",
    "jerk",
    "potential",
    "read",
    "scenario",
    "scenarios",
    "simulate",
    "to_rebound",
    "to_yt",
    "write",
]
