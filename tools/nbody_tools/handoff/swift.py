"""Writes input for SWIFT (https://github.com/SWIFTSIM/SWIFT).

The names of the parameters are from SWIFT's examples/parameter_example.yml, the layout of the
bodies is from doc/RTD/source/InitialConditions/index.rst, and both were compared with SWIFT's
sources at revision 8a8f0d79 (July 2026).
"""

from __future__ import annotations

from pathlib import Path

import numpy

from nbody_tools.handoff import hdf5, job_script, texts
from nbody_tools.handoff.problem import Problem, Units, units_of

NAME = "SWIFT"
SOLAR_MASS = 1.98841e33  # g, physical_constants_cgs.h
DARK = 1  # the only type without further physics; stars would need smoothing lengths
ROOM = 10  # the box is this many times as wide as the bodies


def units(problem: Problem) -> Units:
    return units_of(problem.units, SOLAR_MASS)


def box(problem: Problem) -> tuple[float, numpy.ndarray]:
    """Returns the box's width, and the shift that puts the middle of the bodies into the box's
    centre."""
    low, high = problem.positions.min(axis=0), problem.positions.max(axis=0)
    width = ROOM * max(float((high - low).max()), problem.softening)
    return width, width / 2 - (low + high) / 2


def write_bodies(path: Path, problem: Problem) -> None:
    one = units(problem)
    values = {"mass": ("U_M", one.mass), "length": ("U_L", one.length), "time": ("U_t", one.time),
              "current": ("U_I", 1.0), "temperature": ("U_T", 1.0)}
    cgs = {f"Unit {name} in cgs ({letters})": numpy.array([value])  # swiftsimio expects arrays
           for name, (letters, value) in values.items()}
    header = {"BoxSize": numpy.full(3, box(problem)[0]),
              "Dimension": numpy.array([3], hdf5.INTEGER),
              "Flag_Entropy_ICs": numpy.array([0], hdf5.INTEGER)}
    hdf5.write(path, problem, numpy.full(problem.bodies, DARK), header, cgs)


def parameters(problem: Problem) -> str:
    one, (_, shift) = units(problem), box(problem)
    span = problem.end - problem.begin
    return f"""# {texts.origin(problem)}

# {texts.units(problem, one)}
InternalUnitSystem:
  UnitMass_in_cgs:     {one.mass!r}
  UnitLength_in_cgs:   {one.length!r}
  UnitVelocity_in_cgs: {one.velocity!r}
  UnitCurrent_in_cgs:  1
  UnitTemp_in_cgs:     1

# The value of G in the units above.
PhysicalConstants:
  G: {problem.gravity!r}

# SWIFT chooses the time step of each body, between these two values.
TimeIntegration:
  time_begin: {problem.begin!r}
  time_end:   {problem.end!r}
  dt_min:     {problem.dt * 2 ** -20!r}
  dt_max:     {problem.dt!r}

Gravity:
  eta:         0.025     # a smaller value makes time steps shorter
  MAC:         adaptive  # a node is accepted if its error is small
  epsilon_fmm: 0.001     # a smaller value makes force errors smaller
  theta_cr:    0.7
  max_physical_DM_softening: {problem.softening!r}  # softening length of Plummer's force

Snapshots:
  basename:   snapshot
  time_first: {problem.begin!r}
  delta_time: {span / problem.snapshots!r}

Statistics:
  delta_time: {span / (10 * problem.snapshots)!r}

# SWIFT needs coordinates from 0 to the size of the box; the shift moves the bodies there.
InitialConditions:
  file_name: bodies.hdf5
  periodic:  0
  shift:     [{", ".join(repr(float(one)) for one in shift)}]
"""


def job(problem: Problem) -> str:
    return job_script.job("swift", "1", """# One task per node, whose threads use all cores.
SWIFT=${SWIFT:-swift}
if [ -n "${SLURM_JOB_ID-}" ] && [ "${SLURM_NTASKS-1}" -gt 1 ]; then
  srun "${SWIFT}_mpi" --self-gravity --threads="$SLURM_CPUS_PER_TASK" swift.yml
else
  "$SWIFT" --self-gravity --threads="${SLURM_CPUS_PER_TASK:-$(nproc)}" swift.yml
fi
""")


def files(problem: Problem) -> dict[str, str]:
    steps = """1. Build SWIFT, which needs HDF5, GSL, and MPI for several nodes:

       git clone https://github.com/SWIFTSIM/SWIFT && cd SWIFT
       ./autogen.sh && ./configure && make

2. Start SWIFT in this folder, or submit job.sh with sbatch (first set the account, nodes and time
   in job.sh):

       SWIFT=/path/to/SWIFT/swift bash job.sh

3. Read the snapshots, snapshot_0000.hdf5 and so on, with swiftsimio, yt or nbody-convert. They
   contain the shifted coordinates; /Header/Shift has the shift."""
    notes = """- All bodies have SWIFT's type 1, dark matter, whatever their species.
- A body's ParticleID is its place in the source, counted from 1.
- SWIFT softens forces with a spline. At distances of more than three softening lengths, these are
  Newton's forces; at smaller distances, they differ from Plummer's forces.
- If a body leaves the box, SWIFT moves it to the opposite side, where its force is wrong. The box
  is ten times as wide as the region that the bodies occupy at the start."""
    return {"swift.yml": parameters(problem), "job.sh": job(problem),
            "README.txt": texts.readme(NAME, problem, units(problem), steps, notes)}
