"""Gravity as an operation of XLA, the compiler of JAX (src/in_jax.cpp).

Functions under jax.jit can compute gravity by this operation, on the CPU and on CUDA devices. Calls
with arrays on a CUDA device use it, too, because an exchange through DLPack takes longer. JAX runs
operations asynchronously, so values that are not allowed raise an error when a result is used.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any, Callable, Optional

import numpy as np

from . import _extension, checks, devices

NAME = "nbody_steps_gravity"
QUANTITIES = {"accelerations": 0, "potential": 1, "jerk": 2}
PLATFORM = "gpu"  # calls with arrays there are operations of JAX, also outside jax.jit
NOT_BUILT = ("positions: arrays within jax.jit are not allowed, because JAX was not installed when "
             "nbody_steps was built; install JAX, then nbody_steps again")


@functools.lru_cache(maxsize=1)
def ffi() -> Optional[Any]:
    """Returns the module jax.ffi, which then knows the operation, or None if the package was built
    without JAX, or for a version that this JAX no longer supports."""
    try:
        module = importlib.import_module("jax.ffi")
        for platform, handler in _extension.jax_handlers.items():
            module.register_ffi_target(NAME, handler, platform=platform)
    except (ImportError, AttributeError, RuntimeError):
        return None
    return module if _extension.jax_handlers else None


def is_traced(*arrays: Any) -> bool:
    """Tests whether JAX compiles the caller, so that some arrays have no values yet."""
    jax = sys.modules.get("jax")
    if jax is None:
        return False
    traced = jax.core.Tracer
    return any(isinstance(array, traced) for array in arrays)


def takes(device: Optional[str], positions: Any, *others: Any) -> Optional[str]:
    """Returns "traced" or "on device" if a call with these arrays is an operation of JAX, depending
    on whether JAX compiles the caller; otherwise None."""
    jax = sys.modules.get("jax")
    if jax is None:
        return None
    if is_traced(positions, *others):
        if ffi() is None:
            raise TypeError(NOT_BUILT)
        if device is not None:
            raise ValueError(f"device: {device!r} is not allowed within jax.jit, because JAX "
                             "chooses the device; use None")
        return "traced"
    is_there = (_extension.has_cuda and isinstance(positions, jax.Array)
                and all(found.platform == PLATFORM for found in positions.devices())
                and ffi() is not None)
    return "on device" if is_there else None


def arrays_there(positions: Any, masses: Any, targets: Any) -> Optional[tuple[Any, ...]]:
    """Returns the arrays of a call, without targets if they are None, if all are arrays of JAX with
    values, and the positions are on a device. Otherwise returns None; then `takes` must look more
    closely, which takes as long as a kernel."""
    jax = sys.modules.get("jax")
    if jax is None or not _extension.has_cuda:
        return None
    given = (positions, masses) if targets is None else (positions, masses, targets)
    for array in given:
        if not isinstance(array, jax.Array) or isinstance(array, jax.core.Tracer):
            return None
    for device in positions.devices():
        if device.platform != PLATFORM:
            return None
    return given if ffi() is not None else None


@functools.lru_cache(maxsize=64)
def operation(function: str, softening: float, settings: _extension.Settings) -> Callable[..., Any]:
    """Returns a function of the arrays that `call` lists. JAX compiles the function for each new
    shape."""
    jax, call_of = sys.modules["jax"], ffi().ffi_call
    attributes = {
        "quantity": np.int32(QUANTITIES[function]),
        "softening": np.float64(softening),
        "method": np.int32(settings.method),
        "threads": np.int32(settings.threads),
        "theta": np.float64(settings.theta),
        "multipole": np.int32(settings.multipole),
        "force_tolerance": np.float64(settings.force_tolerance),
        "unchecked": np.bool_(settings.unchecked),
    }
    sources = 3 if function == "jerk" else 2

    def gravity(*arrays: Any) -> Any:
        at = arrays[sources if len(arrays) > sources else 0]
        result = jax.ShapeDtypeStruct(at.shape[:1] if function == "potential" else at.shape,
                                      at.dtype)
        results = (result, result) if function == "jerk" else result
        return call_of(NAME, results, vmap_method="sequential")(*arrays, **attributes)

    return jax.jit(gravity)


def array_of_jax(name: str, array: Any, positions: Any, place: str) -> Any:
    """Returns the array if it is one of JAX. Within jax.jit, other arrays become constants."""
    jax = sys.modules["jax"]
    if isinstance(array, jax.Array):
        return array
    if place == "on device":
        number = next(iter(positions.devices())).local_hardware_id
        raise ValueError(f"{name}: not on CUDA device {number}, where positions are")
    return jax.numpy.asarray(checks.as_array(name, array))


@functools.lru_cache(maxsize=256)
def checked_operation(function: str, softening: float, settings: _extension.Settings,
                      forms: tuple[tuple[str, tuple[int, ...], Any], ...]) -> Callable[..., Any]:
    """Returns a function of arrays with these names, shapes and dtypes, which are checked only
    once, because the checks take as long as the launch of a kernel."""
    shapes = {name: shape for name, shape, _ in forms}
    dtypes = {name: devices.type_of(dtype) for name, _, dtype in forms}
    x, dtype = shapes["positions"], dtypes["positions"]
    at = shapes.get("targets", x)
    if dtype not in ("float32", "float64"):
        raise ValueError(f"positions: dtype {dtype} is not allowed; use float32 or float64")
    for name, shape in shapes.items():
        rows = (at if name.startswith("target") else x)[:1]
        if name in ("positions", "targets"):
            rows = (None,)
        checks.shape_and_type(name, shape, rows if name == "masses" else (*rows, 3), dtypes[name],
                              dtype)
    if x[0] > 0 and at[0] > 0:
        return operation(function, softening, settings)

    def nothing(*_: Any) -> Any:
        zeros = sys.modules["jax"].numpy.zeros(at[:1] if function == "potential" else at, dtype)
        return (zeros, zeros) if function == "jerk" else zeros

    return nothing


def call(function: str, arrays: dict[str, Any], softening: float, settings: _extension.Settings,
         place: str) -> Any:
    """Returns accelerations, potentials, or accelerations and jerks.

    arrays  positions, velocities (for a jerk) and masses of the sources, then targets and
            target_velocities (for a jerk), which may be None
    place   what `takes` has returned
    """
    positions = arrays["positions"]
    for name in ("positions", "velocities", "masses"):
        if name in arrays and arrays[name] is None:
            raise ValueError(f"{name}: None is not allowed; use an array")
    given = {name: array_of_jax(name, array, positions, place)
             for name, array in arrays.items() if array is not None}
    forms = tuple((name, array.shape, array.dtype) for name, array in given.items())
    return checked_operation(function, softening, settings, forms)(*given.values())
