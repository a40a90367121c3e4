"""Writes input for GADGET-4 (https://gitlab.mpcdf.mpg.de/vrs/gadget4).

The parameter file contains all parameters that GADGET-4 requires if it was compiled with the
options in CONFIG (see GADGET-4's src/data/allvars.cc). GADGET-4's docs/05_parameterfile.md explains
the parameters. This module was compared with revision 226f62e5 (March 2024).
"""

from __future__ import annotations

from pathlib import Path

import numpy

from nbody_tools.files.library import SPECIES
from nbody_tools.handoff import hdf5, job_script, texts
from nbody_tools.handoff.problem import Problem, Units, units_of

NAME = "GADGET-4"
SOLAR_MASS = 1.989e33  # g, src/data/constants.h
GAS, DARK = SPECIES.index("gas"), SPECIES.index("dark")
CONFIG = """SELFGRAVITY
NTYPES=6
NSOFTCLASSES=1
DOUBLEPRECISION=1
"""


def units(problem: Problem) -> Units:
    return units_of(problem.units, SOLAR_MASS)


def write_bodies(path: Path, problem: Problem) -> None:
    types = numpy.where(problem.species == GAS, DARK, problem.species)  # gas would feel pressure
    hdf5.write(path, problem, types, {"BoxSize": 0.0}, {})


def parameters(problem: Problem) -> str:
    one = units(problem)
    span = problem.end - problem.begin
    classes = "\n".join(f"SofteningClassOfPartType{kind}    0" for kind in range(hdf5.TYPES))
    return f"""% {texts.origin(problem)}

InitCondFile                ./bodies
OutputDir                   ./output
SnapshotFileBase            snapshot
OutputListFilename          none
ICFormat                    3
SnapFormat                  3

TimeLimitCPU                86400   % seconds
CpuTimeBetRestartFile       7200
MaxMemSize                  2000    % MB per MPI rank

TimeBegin                   {problem.begin!r}
TimeMax                     {problem.end!r}
ComovingIntegrationOn       0
Omega0                      0
OmegaLambda                 0
OmegaBaryon                 0
HubbleParam                 1.0
Hubble                      0
BoxSize                     0

OutputListOn                0
TimeBetSnapshot             {span / problem.snapshots!r}
TimeOfFirstSnapshot         {problem.begin!r}
TimeBetStatistics           {span / (10 * problem.snapshots)!r}
NumFilesPerSnapshot         1
MaxFilesWithConcurrentIO    1

% GADGET-4 chooses the time step of each body, at most MaxSizeTimestep.
ErrTolIntAccuracy           0.012   % a smaller value makes time steps shorter
CourantFac                  0.15
MaxSizeTimestep             {problem.dt!r}
MinSizeTimestep             0.0

% A node is accepted if its error is small relative to the force in the last time step.
TypeOfOpeningCriterion      1
ErrTolTheta                 0.5
ErrTolThetaMax              0.9
ErrTolForceAcc              0.002   % a smaller value makes force errors smaller
TopNodeFactor               2.5
ActivePartFracForNewDomainDecomp    0.01

DesNumNgb                   64
MaxNumNgbDeviation          1
ArtBulkViscConst            1.0
MinEgySpec                  0
InitGasTemp                 0

% {texts.units(problem, one)}
UnitLength_in_cm            {one.length!r}
UnitMass_in_g               {one.mass!r}
UnitVelocity_in_cm_per_s    {one.velocity!r}
GravityConstantInternal     {problem.gravity!r}

% The softening length of Plummer's force
SofteningComovingClass0     {problem.softening!r}
SofteningMaxPhysClass0      {problem.softening!r}
{classes}
"""


def job(problem: Problem) -> str:
    return job_script.job("gadget4", "32", """# One task per core, without threads.
GADGET4=${GADGET4:-./Gadget4}
if [ -n "${SLURM_JOB_ID-}" ]; then
  srun "$GADGET4" param.txt
else
  mpirun -np "${RANKS:-$(nproc)}" "$GADGET4" param.txt
fi
""")


def files(problem: Problem) -> dict[str, str]:
    steps = """1. Build GADGET-4, which needs MPI, GSL, FFTW 3 and HDF5. Its Makefile.systype must
   contain the name of your machine (see GADGET-4's documentation). This folder's Config.sh has the
   compile-time options:

       git clone https://gitlab.mpcdf.mpg.de/vrs/gadget4 && cd gadget4
       make DIR=/path/to/this/folder

2. Start GADGET-4 in this folder, or submit job.sh with sbatch (first set the account, nodes and
   time in job.sh):

       RANKS=8 bash job.sh

3. Read the snapshots, output/snapshot_000.hdf5 and so on, with pynbody, yt or nbody-convert."""
    notes = """- Dark, disk, bulge, star and boundary bodies are GADGET-4's types 1 to 5. Gas
  becomes dark, because it would need a temperature.
- A body's ParticleID is its place in the source, counted from 1.
- GADGET-4 softens forces with a spline. At distances of more than 2.8 softening lengths, these are
  Newton's forces; at smaller distances, they differ from Plummer's forces."""
    return {"param.txt": parameters(problem), "Config.sh": CONFIG, "job.sh": job(problem),
            "README.txt": texts.readme(NAME, problem, units(problem), steps, notes)}
