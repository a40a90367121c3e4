"""Leapfrog integration with the accelerations that the library computes."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from . import _extension, checks, devices, in_jax
from .gravity import OPTIONS, accelerations, length, require_same_shape, settings_named


def simulate(positions: Any, velocities: Any, masses: Any, softening: float, dt: float, steps: int,
             method: str = "direct", *, progress: Optional[Callable[[int], Any]] = None,
             external: Optional[Callable[[np.ndarray, float], Any]] = None, time: float = 0.0,
             **options: Any) -> tuple[Any, Any]:
    """Returns the positions and velocities after `steps` time steps of leapfrog (drift by dt / 2,
    kick by dt, drift by dt / 2; second order, time-reversible).

    positions, velocities: (n, 3); masses: (n,). All have the same dtype, float32 or float64, and so
    does the state during the run. dt may be negative. progress(k) is called after step k. method
    and options are those of `accelerations`. The arguments are not changed.

    external(positions, time) returns accelerations (n, 3), which are added to those that the bodies
    cause. The external field does not react to the bodies. (`galpy_field` makes such a function.)
    The argument `time` of `simulate` is the time at the start.

    Arrays on a CUDA device stay there, and the results are arrays of the same library.
    """
    if "targets" in options:
        raise ValueError("targets: not allowed, because the bodies themselves move; give bodies "
                         "that cause no force the mass 0")
    if in_jax.is_traced(positions, velocities, masses):
        raise TypeError("simulate: not allowed within functions that JAX compiles; use "
                        "jax.lax.fori_loop with accelerations")
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise TypeError(f"simulate: {unknown[0]!r} is not an argument; the options of "
                        f"accelerations are {', '.join(OPTIONS)}")
    checks.function_or_none("progress", progress, "the step's number")
    checks.function_or_none("external", external, "positions and time")
    number = devices.device_of(positions)
    if number is not None and _extension.has_cuda:
        call = devices.Call(positions, number)
        call.take("positions", positions, (None, 3))
        call.take("velocities", velocities, (positions.shape[0], 3))
        return simulate_on_device(positions, velocities, masses, length(softening),
                                  checks.number("dt", dt, -np.inf, np.inf, "a finite number"),
                                  checks.whole("steps", steps, 0), method, progress, external,
                                  time, options)
    x = checks.vectors("positions", positions).copy()
    v = checks.vectors("velocities", velocities, ("positions", x)).copy()
    require_same_shape("velocities", v, "positions", x)
    m = checks.masses_of(masses, ("positions", x))
    eps = length(softening)
    settings_named(method, options)  # also without steps
    h = time_step(dt, x.dtype.type)
    half = x.dtype.type(0.5) * h
    start = checks.number("time", time, -np.inf, np.inf, "a finite number")
    for step in range(1, checks.whole("steps", steps, 0) + 1):
        x += half * v
        v += h * accelerations(x, m, eps, method=method, **options)
        if external is not None:
            v += h * field(external, x, start + (step - 0.5) * float(h))
        x += half * v
        if progress is not None:
            progress(step)
    return x, v


def time_step(dt: Any, real: Any) -> Any:
    """Returns dt in the type of the arrays."""
    exact = checks.number("dt", dt, -np.inf, np.inf, "a finite number")
    with np.errstate(over="ignore"):
        h = real(exact)
    if not np.isfinite(h) or (h == 0) != (exact == 0):
        raise ValueError(f"dt: {dt!r} is not allowed; use a number within the range of "
                         f"{np.dtype(real)}")
    return h


def simulate_on_device(x: Any, v: Any, m: Any, eps: float, h: float, steps: int, method: str,
                       progress: Optional[Callable[[int], Any]],
                       external: Optional[Callable[[Any, float], Any]], start: float,
                       options: dict[str, Any]) -> tuple[Any, Any]:
    for step in range(1, steps + 1):
        x = x + 0.5 * h * v
        v = v + h * accelerations(x, m, eps, method=method, **options)
        if external is not None:
            v = v + h * external(x, start + (step - 0.5) * h)
        x = x + 0.5 * h * v
        if progress is not None:
            progress(step)
    return x, v


def field(external: Callable[[np.ndarray, float], Any], x: np.ndarray, time: float) -> np.ndarray:
    """Returns the external accelerations, in the dtype of x."""
    a = checks.as_array("external", external(x.copy(), time)).astype(x.dtype, copy=False)
    if a.shape != x.shape:
        raise ValueError(f"external: returned shape {a.shape}; {x.shape} is needed")
    return checks.checked("external", a, a, None)
