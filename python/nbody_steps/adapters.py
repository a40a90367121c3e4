"""Converts bodies from and to REBOUND and yt, and makes external fields from galpy's potentials.

Each function imports its package only when it is called, so you need only the packages that you
use.
"""

from __future__ import annotations

import importlib
import math
import re
from typing import Any, Callable

import numpy as np

from . import checks
from .bodies import Bodies

KPC_PER_AU = math.pi / (180 * 3600 * 1000)
# For each preset of common/io/units.h: its unit of length in kpc, and its unit of mass in Msun.
UNITS = {"au-msun-yr2pi": (KPC_PER_AU, 1.0), "kpc-msun": (1.0, 1.0),
         "kpc-100kms": (1.0, 2.32508541e9)}
KM_PER_KPC = 3.0856775814913673e16
KPC_MSUN_IN_KMS = 2.0738653e-3  # sqrt(G Msun / kpc), with the nominal GM of the Sun (IAU 2015 B3)


def package(name: str, needed_by: str) -> Any:
    """Imports a package. If it is missing, raises an ImportError with a one-line message."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{needed_by} needs {name}: pip install {name} ({error})") from None


def from_rebound(simulation: Any) -> Bodies:
    """Returns the bodies of a rebound.Simulation (Rein & Liu 2012, A&A 537, A128).

    G becomes 1: positions (n, 3) and masses (n,) keep their units, velocities are divided by
    sqrt(G), and the time is multiplied by sqrt(G). Test particles get mass 0. Bodies keep the names
    of the particles. The result does not contain additional forces.

    Raises a ValueError if the argument is not a simulation, if the simulation is not synchronized
    (safe_mode 0), periodic or without gravity, if a mass is negative, or if its test particles act
    on the other bodies (testparticle_type 1).
    """
    if not is_synchronized(simulation):
        raise ValueError("simulation: it is not synchronized; call its synchronize() first, with "
                         "keep_unsynchronized = 0")
    return particles_of(simulation)


def is_synchronized(simulation: Any) -> bool:
    """Returns whether all particles are at the end of a step. REBOUND 5 has one flag, older
    versions have a flag for each integrator."""
    integrator = getattr(simulation, f"ri_{getattr(simulation, 'integrator', '')}", None)
    return all(getattr(part, "is_synchronized", True) for part in (simulation, integrator))


def particles_of(simulation: Any) -> Bodies:
    """Returns the bodies of a rebound.Simulation whose particles are at the end of a step."""
    try:
        gravity, every = float(simulation.G), list(simulation.particles)
        time, softening, dt = (float(getattr(simulation, key)) for key in ("t", "softening", "dt"))
    except (AttributeError, TypeError, ValueError):
        raise ValueError(f"simulation: a {type(simulation).__name__} is not allowed; use a "
                         "rebound.Simulation") from None
    if not (gravity > 0 and math.isfinite(gravity)):
        raise ValueError(f"simulation: G = {gravity} is not allowed; use a number above 0")
    if str(getattr(simulation, "boundary", "none")) in ("periodic", "shear"):
        raise ValueError("simulation: its boundary is periodic, but nbody_steps computes only "
                         "isolated systems")
    if str(getattr(simulation, "gravity", "basic")) == "none":
        raise ValueError("simulation: its gravity is 'none', but nbody_steps computes gravity")
    if hasattr(simulation, "N_real"):  # REBOUND 4 appends variational particles
        every = every[:simulation.N_real]
    rows = np.array([(p.x, p.y, p.z, p.vx, p.vy, p.vz, p.m) for p in every],
                    np.float64).reshape(-1, 7)
    if not (rows[:, 6] >= 0).all():
        raise ValueError("simulation: masses must be 0 or more")
    active = int(simulation.N_active)
    if 0 <= active < len(rows):
        if int(getattr(simulation, "testparticle_type", 0)) != 0 and rows[active:, 6].any():
            raise ValueError("simulation: testparticle_type 1 is not allowed, because its test "
                             "particles act only on some bodies")
        rows[active:, 6] = 0
    root = math.sqrt(gravity)
    names = [str(getattr(p, "name", None) or "") for p in every]
    return Bodies(rows[:, 0:3].copy(), rows[:, 3:6] / root, rows[:, 6].copy(), time * root,
                  softening, dt * root, names=names if all(names) else [])


def to_rebound(bodies: Bodies) -> Any:
    """Returns a new rebound.Simulation with these bodies and G = 1. The simulation gets the time
    and the softening of the bodies and, if their dt is above 0, also the dt. The integrator is
    REBOUND's default, IAS15.

    Raises a ValueError if there are several systems, masked values or units, and an ImportError
    without REBOUND.
    """
    rebound = package("rebound", "to_rebound")
    x, v, m = single(bodies)
    simulation = rebound.Simulation()
    time, softening, dt = (finite(name, bodies) for name in ("time", "softening", "dt"))
    simulation.G, simulation.t, simulation.softening = 1.0, time, softening
    if dt > 0:
        simulation.dt = dt
    for k, mass in enumerate(m):
        simulation.add(m=float(mass), x=float(x[k, 0]), y=float(x[k, 1]), z=float(x[k, 2]),
                       vx=float(v[k, 0]), vy=float(v[k, 1]), vz=float(v[k, 2]))
    return simulation


def single(bodies: Bodies) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns positions, velocities and masses of one system, in float64."""
    if not isinstance(bodies, Bodies):
        raise ValueError(f"bodies: a {type(bodies).__name__} is not allowed; "
                         "use nbody_steps.Bodies")
    x = checks.vectors("positions", checks.float64("positions", bodies.positions))
    v = checks.vectors("velocities", checks.float64("velocities", bodies.velocities))
    if v.shape != x.shape:
        raise ValueError(f"velocities: shape {v.shape} is not allowed; use {x.shape}, as positions")
    return x, v, checks.masses_of(checks.float64("masses", bodies.masses), ("positions", x))


def finite(name: str, bodies: Bodies) -> float:
    return checks.number(name, getattr(bodies, name), -math.inf, allowed="a finite number")


def from_yt(source: Any, particle_type: str = "all") -> Bodies:
    """Returns the particles of a yt dataset or of a region of it (Turk et al. 2011, ApJS 192, 9).

    Positions (n, 3) are in kpc, masses (n,) in solar masses, and velocities in sqrt(G Msun / kpc) =
    2.07e-3 km/s, so that G is 1 (units "kpc-msun"); the time is in sqrt(kpc^3 / G Msun). The
    softening is 0, because yt does not read it. particle_type is one of yt's types: "all",
    "PartType1", "io", ...

    Raises a ValueError that lists the types if there is no such particle type.
    """
    if hasattr(source, "all_data"):
        source = source.all_data()
    dataset = getattr(source, "ds", None)
    if dataset is None:
        raise ValueError(f"source: a {type(source).__name__} is not allowed; "
                         "use a yt dataset, or a "
                         "region of one")
    if particle_type not in dataset.particle_types:
        raise ValueError(f"particle_type: {particle_type!r} is not allowed; use one of "
                         f"{', '.join(sorted(dataset.particle_types))}")

    def of(field: str, unit: str) -> np.ndarray:
        return np.asarray(source[particle_type, field].to(unit), np.float64)

    x = of("particle_position", "kpc").reshape(-1, 3)
    v = of("particle_velocity", "km/s").reshape(-1, 3) / KPC_MSUN_IN_KMS
    time = float(dataset.current_time.to("s")) * KPC_MSUN_IN_KMS / KM_PER_KPC
    return Bodies(np.ascontiguousarray(x), np.ascontiguousarray(v), of("particle_mass", "Msun"),
                  time, units="kpc-msun")


def to_yt(bodies: Bodies) -> Any:
    """Returns a yt dataset of particles (yt.load_particles), whose box is just large enough for the
    bodies.

    The bodies need units with a physical scale: "au-msun-yr2pi", "kpc-msun", "kpc-100kms", or
    "2.5 kpc, 1e10 Msun". Raises a ValueError for other units, for masked values and for arrays that
    have units themselves, and an ImportError without yt.
    """
    yt = package("yt", "to_yt")
    x, v, m = single(bodies)
    if len(m) == 0:
        raise ValueError("bodies: there are none")
    kpc, msun = size_of(checks.text("units", bodies.units))
    velocity = KPC_MSUN_IN_KMS * math.sqrt(msun / kpc)  # km/s
    time = kpc * KM_PER_KPC / velocity  # s
    low, high = x.min(0), x.max(0)
    margin = 0.01 * max(float((high - low).max()), np.abs(x).max() * 1e-6, 1e-300)
    data = {f"particle_{key}": column for key, column in (
        ("position_x", x[:, 0]), ("position_y", x[:, 1]), ("position_z", x[:, 2]),
        ("velocity_x", v[:, 0]), ("velocity_y", v[:, 1]), ("velocity_z", v[:, 2]), ("mass", m))}
    return yt.load_particles(
        data, length_unit=(kpc, "kpc"), mass_unit=(msun, "Msun"), velocity_unit=(velocity, "km/s"),
        time_unit=(time, "s"), sim_time=finite("time", bodies),
        bbox=np.stack((low - margin, high + margin), axis=1), periodicity=(False, False, False))


def size_of(units: str) -> tuple[float, float]:
    """Returns the units of length and mass, in kpc and solar masses."""
    if units in UNITS:
        return UNITS[units]
    found = re.fullmatch(r"(\S+) kpc, (\S+) Msun", units)
    try:
        kpc, msun = (float(text) for text in found.groups()) if found else (0.0, 0.0)
    except ValueError:
        kpc, msun = 0.0, 0.0
    if not (0 < kpc < math.inf and 0 < msun < math.inf):
        raise ValueError(f"bodies: units {units!r} have no physical scale; use one of "
                         f"{', '.join(UNITS)}, or \"2.5 kpc, 1e10 Msun\"")
    return kpc, msun


def galpy_field(potential: Any, length: float = 1.0, speed: float = 1.0
                ) -> Callable[[np.ndarray, float], np.ndarray]:
    """Returns the accelerations of a galpy potential (Bovy 2015, ApJS 216, 29) as a function of
    positions (n, 3) and the time: the `external` of `simulate`.

    potential: a galpy potential in three dimensions, or a sum of several. In galpy's natural units,
    ro is the unit of length and vo the unit of velocity. The arguments `length` and `speed` are ro
    and vo in the units of the bodies, where G is 1. With the units "kpc-msun", for example, they
    are length=8 and speed=220 / 2.0738653e-3.

        a = speed^2 / length F(x / length, t speed / length)

    On the axis R = 0 the force along R is 0, which is right for smooth potentials. Raises a
    ValueError if the argument is not a potential, and an ImportError without galpy.
    """
    galpy = package("galpy.potential", "galpy_field")
    scale = checks.number("length", length, np.nextafter(0, 1), np.inf, "a number above 0")
    rate = checks.number("speed", speed, np.nextafter(0, 1), np.inf, "a number above 0")

    def field(positions: np.ndarray, time: float = 0.0) -> np.ndarray:
        at = checks.vectors("positions", positions)
        x = np.asarray(at, np.float64) / scale
        radius, phi = np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0])
        now = time * rate / scale
        off_axis = np.where(radius > 0, radius, 1e-12)

        def of(function: Any) -> np.ndarray:
            # Some of galpy's potentials reject arrays of points, but all of them take one point.
            return np.array([float(function(potential, r, z, phi=angle, t=now, use_physical=False))
                             for r, z, angle in zip(off_axis, x[:, 2], phi)])

        outward, up = of(galpy.evaluateRforces), of(galpy.evaluatezforces)
        around = of(galpy.evaluatephitorques) / off_axis
        outward, around = (np.where(radius > 0, part, 0) for part in (outward, around))
        force = np.stack((outward * np.cos(phi) - around * np.sin(phi),
                          outward * np.sin(phi) + around * np.cos(phi), up), axis=1)
        return (rate * rate / scale * force).astype(at.dtype)

    if isinstance(potential, (list, tuple)) and not potential:
        raise ValueError("potential: an empty list is not allowed; use a galpy potential")
    try:
        field(np.array([[scale, 0.0, 0.0]]))
    except Exception as error:  # galpy raises many kinds
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"potential: is not a galpy potential in three dimensions ({text})"
                         ) from None
    return field
