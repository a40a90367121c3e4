"""Accelerations, potentials and jerks at points."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional

import numpy as np

from . import _extension, checks, devices, in_jax

METHODS = {"direct": 0, "tree": 1}
OPTIONS = ("theta", "multipole", "force_tolerance", "device", "threads", "unchecked")
DEVICES = {"cpu": 0, "cuda": 1}


def settings(method: str, theta: float, multipole: int, force_tolerance: float,
             device: Optional[str], threads: Optional[int], is_on_device: bool = False,
             unchecked: bool = False) -> _extension.Settings:
    try:
        return settings_of(method, theta, multipole, force_tolerance, device, threads,
                           is_on_device, unchecked)
    except TypeError:  # not hashable, so not a number
        return settings_of.__wrapped__(method, theta, multipole, force_tolerance, device, threads,
                                       is_on_device, unchecked)


@functools.lru_cache(maxsize=64, typed=True)  # 1.0 is rejected, also after a call with 1
def settings_of(method: str, theta: float, multipole: int, force_tolerance: float,
                device: Optional[str], threads: Optional[int], is_on_device: bool,
                unchecked: bool) -> _extension.Settings:
    from_0_to_1 = "a number from 0 to 1"
    if not isinstance(multipole, (int, np.integer)) or multipole not in (0, 2):
        raise ValueError(f"multipole: {multipole!r} is not allowed; "
                         "use 0 (masses) or 2 (quadrupoles)")
    if device is None:
        device = "cuda" if is_on_device else "cpu"
    where = checks.one_of("device", device, DEVICES)
    if where != 0 and not _extension.has_cuda:
        raise ValueError("device: 'cuda' is not in this build; use 'cpu'")
    if where == 0 and is_on_device:
        raise ValueError("device: 'cpu' is not allowed, because the arrays are on a CUDA device; "
                         "use 'cuda' or None")
    return _extension.Settings(
        where,
        checks.one_of("method", method, METHODS),
        0 if threads is None else checks.whole("threads", threads, 1, 4096),
        checks.number("theta", theta, 0, 1, from_0_to_1),
        int(multipole),
        checks.number("force_tolerance", force_tolerance, 0, 1, from_0_to_1),
        bool(unchecked),
    )


def settings_named(method: str, options: dict[str, Any]) -> _extension.Settings:
    """Returns the settings of a call on the CPU that has these options; the others have their
    defaults."""
    given = {"theta": 1.0, "multipole": 2, "force_tolerance": 0.005, "device": None,
             "threads": None, **options}
    return settings(method, *(given[name] for name in OPTIONS[:5]))


def length(softening: Any) -> float:
    return checks.number("softening", softening, 0, 1e150, "a finite number, 0 or more")


@functools.lru_cache(maxsize=64, typed=True)
def operation_of_jax(function: str, softening: float, method: str, theta: float, multipole: int,
                     force_tolerance: float, device: Optional[str], threads: Optional[int],
                     unchecked: bool, *forms: Any) -> Callable[..., Any]:
    """Returns a function of arrays on a device whose shapes and dtypes alternate in `forms`. All
    arguments are checked, but only once."""
    options = settings(method, theta, multipole, force_tolerance, device, threads, True, unchecked)
    named = tuple(zip(("positions", "masses", "targets"), forms[::2], forms[1::2]))
    return in_jax.checked_operation(function, length(softening), options, named)


def accelerations(positions: Any, masses: Any, softening: float, targets: Any = None,
                  method: str = "direct", *, theta: float = 1.0, multipole: int = 2,
                  force_tolerance: float = 0.005, device: Optional[str] = None,
                  threads: Optional[int] = None, unchecked: bool = False) -> Any:
    """Returns the accelerations of targets, a_i = sum_j m_j r_ij / (|r_ij|^2 + eps^2)^(3/2).

    G is 1: in other units, multiply the result by G. The softening eps is Plummer's (Aarseth 1963,
    MNRAS 126, 223; Dehnen & Read 2011, Eur. Phys. J. Plus 126, 55, eq. 7).

    positions        (n, 3), float32 or float64; lists become float64
    masses           (n,), same dtype, 0 or more; massless bodies cost nothing as sources, unless at
                     most 20,480 bodies act on each other on a device
    softening        eps, a length, 0 or more; in float32 and in the tree, at least 1e-12 of the
                     largest coordinate is used (float64: 1e-100)
    targets          (k, 3), same dtype; None: the bodies themselves, without self-forces
    method           "direct": all pairs, in the arrays' dtype
                     "tree": in float32, O((n + k) log n). The tree of step 15b, with the criterion
                     of `./nbody run 15b --force-tolerance`
    force_tolerance  tree: limit on the first multipole term that a node omits, relative to the
                     force on a group of targets; 0.005 gives RMS errors of about 6e-4 of the
                     acceleration in spheres and galaxies. 0 opens all nodes; with 1, theta decides
    theta            tree: the largest opening angle; at 0 all nodes are opened
    multipole        tree: 0 uses masses of nodes, 2 also their quadrupoles
    device           "cpu", "cuda" in a build with nvcc, or None: where the arrays are
    threads          largest number of threads on the CPU; None: all
    unchecked        CUDA: values are not checked, and the call never waits for the device. You must
                     make sure that values are allowed and that units suit float32. All sources
                     count as massive

    Arrays of CuPy, PyTorch and JAX on a CUDA device are used without a copy (DLPack), in the
    library's current stream, and the result is an array of the same library. For arrays of other
    libraries on a device, the result is an array with DLPack's methods.

    Returns (k, 3), or (n, 3) without targets, with the dtype of the positions. Wrong shapes, dtypes
    and numbers raise ValueError. A call that computes on the CPU releases the interpreter's lock,
    and Ctrl-C ends the call.
    """
    return total("accelerations", positions, masses, softening, targets, (3,),
                 (method, theta, multipole, force_tolerance, device, threads), unchecked)


def potential(positions: Any, masses: Any, softening: float, targets: Any = None,
              method: str = "direct", *, theta: float = 1.0, multipole: int = 2,
              force_tolerance: float = 0.005, device: Optional[str] = None,
              threads: Optional[int] = None, unchecked: bool = False) -> Any:
    """Returns the potentials at targets, phi_i = - sum_j m_j / (|r_ij|^2 + eps^2)^(1/2).

    Without targets, the potential at a body leaves out the body's own term, so 0.5 * sum(masses *
    potential) is the potential energy. The arguments are those of `accelerations`. The tree opens
    the same nodes and uses the same moments as for accelerations.

    Returns (k,), or (n,) without targets.
    """
    return total("potential", positions, masses, softening, targets, (),
                 (method, theta, multipole, force_tolerance, device, threads), unchecked)


def total(function: str, positions: Any, masses: Any, softening: float, targets: Any,
          shape: tuple[int, ...], options: tuple[Any, ...], unchecked: bool) -> Any:
    library = devices.short_way(type(positions))
    if library is not None and options[4] in (None, "cuda"):
        found = _extension.sum_there(library, function == "potential", positions, masses, targets,
                                     softening, (*options, True, unchecked), settings)
        if found is not None:
            return found
    there = in_jax.arrays_there(positions, masses, targets)
    if there is not None:
        forms = [form for array in there for form in (array.shape, array.dtype)]
        try:
            operation = operation_of_jax(function, softening, *options, unchecked, *forms)
        except TypeError:  # an option is not hashable, so not a number: below, it raises an error
            pass
        else:
            return operation(*there)
    arrays = {"positions": positions, "masses": masses, "targets": targets}
    place = in_jax.takes(options[4], *arrays.values())
    if place is not None:
        return in_jax.call(function, arrays, length(softening),
                           settings(*options, place == "on device", unchecked), place)
    number = devices.device_of(positions)
    if number is not None and _extension.has_cuda:
        return total_on_device(function, positions, masses, softening, targets, shape,
                               settings(*options, True, unchecked), number)
    x = checks.vectors("positions", positions)
    m = checks.masses_of(masses, ("positions", x))
    at = None if targets is None else checks.vectors("targets", targets, ("positions", x))
    out = np.empty((len(x if at is None else at), *shape), x.dtype)
    getattr(_extension, function)(x, m, at, length(softening), settings(*options), out)
    return out


def total_on_device(function: str, x: Any, m: Any, softening: float, at: Any,
                    shape: tuple[int, ...], options: _extension.Settings, number: int) -> Any:
    call = devices.Call(x, number)
    x_at = call.take("positions", x, (None, 3))
    count = sources = x.shape[0]
    m_at, at_at = call.take("masses", m, (sources,)), 0
    if at is not None:
        at_at = call.take("targets", at, (None, 3))
        count = at.shape[0]
    eps = length(softening)
    out_at, out = call.empty((count, *shape))
    if count > 0:
        kernel = getattr(_extension, function + ("_f32" if call.dtype == "float32" else "_f64"))
        kernel(number, sources, x_at, m_at, count, at_at, eps, options, out_at, call.stream)
    return call.result(out)


def jerk(positions: Any, velocities: Any, masses: Any, softening: float, targets: Any = None,
         target_velocities: Any = None, method: str = "direct", *, with_accelerations: bool = False,
         device: Optional[str] = None, threads: Optional[int] = None, unchecked: bool = False
         ) -> Any:
    """Returns the time derivatives of the accelerations of targets,
    sum_j m_j (v_ij / s^3 - 3 (r_ij . v_ij) r_ij / s^5) with s^2 = |r_ij|^2 + eps^2
    (Makino & Aarseth 1992, PASJ 44, 141).

    velocities, target_velocities: (n, 3) and (k, 3), same dtype; the other arguments are those of
    `accelerations`. The tree has no velocities, so only method "direct" is allowed.

    Returns (k, 3), or (n, 3) without targets. If with_accelerations is true, returns the
    accelerations and the jerks, which takes no longer than the jerks alone.
    """
    if checks.one_of("method", method, METHODS) != METHODS["direct"]:
        raise ValueError("method: 'tree' does not compute a jerk; use 'direct'")
    arrays = {"positions": positions, "velocities": velocities, "masses": masses,
              "targets": targets, "target_velocities": target_velocities}
    place = in_jax.takes(device, *arrays.values())
    if place is not None:
        require_both(targets, target_velocities)
        found = in_jax.call("jerk", arrays, length(softening),
                            settings(method, 1, 2, 0, device, threads, place == "on device",
                                     unchecked), place)
        return found if with_accelerations else found[1]
    number = devices.device_of(positions)
    if number is not None and _extension.has_cuda:
        return jerk_on_device((positions, velocities), masses, softening,
                              (targets, target_velocities), with_accelerations,
                              settings(method, 1, 2, 0, device, threads, True, unchecked), number)
    x = checks.vectors("positions", positions)
    v = checks.vectors("velocities", velocities, ("positions", x))
    require_same_shape("velocities", v, "positions", x)
    m = checks.masses_of(masses, ("positions", x))
    at = u = None
    require_both(targets, target_velocities)
    if targets is not None:
        at = checks.vectors("targets", targets, ("positions", x))
        u = checks.vectors("target_velocities", target_velocities, ("positions", x))
        require_same_shape("target_velocities", u, "targets", at)
    a = np.empty_like(x if at is None else at)
    out = np.empty_like(a)
    _extension.jerk(x, v, m, at, u, length(softening),
                    settings(method, 1, 2, 0, device, threads), a, out)
    return (a, out) if with_accelerations else out


def jerk_on_device(sources: tuple[Any, Any], m: Any, softening: float, targets: tuple[Any, Any],
                   with_accelerations: bool, options: _extension.Settings, number: int) -> Any:
    (x, v), (at, u) = sources, targets
    call = devices.Call(x, number)
    x_at = call.take("positions", x, (None, 3))
    count = x.shape[0]
    v_at = call.take("velocities", v, (count, 3))
    m_at, at_at, u_at = call.take("masses", m, (count,)), 0, 0
    require_both(at, u)
    if at is not None:
        at_at = call.take("targets", at, (None, 3))
        count = at.shape[0]
        u_at = call.take("target_velocities", u, (count, 3))
    eps = length(softening)
    (a_at, a), (out_at, out) = call.empty((count, 3)), call.empty((count, 3))
    if count > 0:
        kernel = _extension.jerk_f32 if call.dtype == "float32" else _extension.jerk_f64
        kernel(x.shape[0], x_at, v_at, m_at, count, at_at, u_at, eps, options, a_at, out_at,
               call.stream)
    return (call.result(a), call.result(out)) if with_accelerations else call.result(out)


def require_both(targets: Any, target_velocities: Any) -> None:
    if (targets is None) != (target_velocities is None):
        raise ValueError("target_velocities: needed with targets, and only with them")


def require_same_shape(name: str, array: np.ndarray, other: str, like: np.ndarray) -> None:
    if array.shape != like.shape:
        raise ValueError(f"{name}: shape {array.shape} is not allowed; "
                         f"use {like.shape}, as {other}")
