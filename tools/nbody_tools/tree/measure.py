"""Defines the parts of ./nbody measure about step 15, for docs/results/tree/. Uses only the
standard library, because a machine with a GPU may lack other packages."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Sequence

from nbody_tools.arguments import Failed
from nbody_tools.measure import ncu
from nbody_tools.measure.bench import Bench

TREE, FORCE_AWARE = "step15_barnes_hut", "step15b_force_aware"
DIRECT = ("step11_register_blocking", "step12_newton3", "step13_persistent")
THETAS = (0.4, 0.6, 0.8)  # opening angles whose times are drawn
# Numbers of bodies, each with enough time steps for a millisecond or more.
SIZES = (
    (256, 500),
    (1024, 500),
    (4096, 200),
    (16384, 100),
    (65536, 20),
    (262144, 5),
    (1048576, 2),
    (4194304, 2),
    (16777216, 2),
)
LARGEST_DIRECT = 1048576
LARGEST = 16777216  # generating the bodies takes longer than computing, so they come last
ANGLES = {
    2: (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    0: (0.2, 0.4, 0.6, 0.8, 1.0),
}  # 2: with quadrupoles, 0: without
UNCHECKED = ("--validate", "off")
TIMED = ("--warmup", 1, "--repeat", 5, *UNCHECKED)
COMPARED = {1000: 1000, 32768: 8192, 1048576: 2048}  # system size -> number of bodies to compare
PHASED = (65536, 1048576)
GALAXIES = ("--scenario", "collision", "--bodies", 100000, "--integrator", "leapfrog")
STEPS_OF_GALAXIES, ROWS = 1000, 4
PHASES = {
    "Reduce": "cube",
    "make_keys": "keys",
    "RadixSort": "sort",
    "settle": "sort",
    "make_nodes": "nodes",
    "find_moments": "moments",
    "advance": "walk",
}  # key: part of a kernel's name
# (problem, time steps) of the runs of step 15 at several angles, and of 15b at several tolerances.
OPENED = ((("plummer", 65536), 20), (("plummer", 1048576), 5), (("disk-halo", 1048576), 5))
ANGLES_OPENED = (1.0, 0.8, 0.7, 0.6, 0.5, 0.4)
TOLERANCES = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 5e-4)
COUNTED = ((TREE, 0.8), (FORCE_AWARE, 0.01))  # these two have similar accuracy
COUNTERS = ("smsp__inst_executed.sum", "gpu__time_duration.sum")
TRANSFERS = ("take_apart", "put_together")  # they run before the first and after the last time step


def sphere(bodies: int, steps: int = 5) -> tuple:
    return ("--scenario", "plummer", "--bodies", bodies, "--steps", steps)


def angle(theta: float, multipole: int = 2) -> tuple:
    return ("--theta", theta, "--multipole", multipole)


def tree(bench: Bench) -> None:
    """step 15: times next to steps 11 to 13, errors by angle, phases, a collision of galaxies"""
    for bodies, steps in SIZES:
        if bodies <= LARGEST_DIRECT:
            for name in bench.built(*DIRECT):
                bench.record(name, *sphere(bodies, steps), *TIMED)
        if bodies < LARGEST:
            for theta in THETAS:
                bench.record(TREE, *sphere(bodies, steps), *angle(theta), *TIMED)
    errors(bench)
    phases(bench)
    collision(bench)
    for theta in THETAS:
        bench.record(TREE, *sphere(*SIZES[-1]), *angle(theta), *TIMED)


def errors(bench: Bench) -> None:
    for bodies, compared in COMPARED.items():
        for multipole, thetas in ANGLES.items():
            for theta in thetas:
                bench.record(
                    TREE,
                    *sphere(bodies, 2),
                    *angle(theta, multipole),
                    *UNCHECKED,
                    "--force-error",
                    compared,
                )


def phases(bench: Bench) -> None:
    """Measures, with Nsight Compute, the duration of each kernel in one time step."""
    program = shutil.which("ncu")
    if program is None:
        bench.say("phases: no ncu (Nsight Compute) on the PATH")
        return
    for bodies in PHASED:
        for theta in THETAS:
            words = (*sphere(bodies, 2), *angle(theta))
            counted = bench.folder / f"{bodies}.{theta}.ncu.csv"
            bench.run(
                f"{bodies}.{theta}.ncu.log",
                [
                    program,
                    *ncu.RAW,
                    "--cache-control",
                    "none",
                    "--metrics",
                    "gpu__time_duration.sum",
                    "--log-file",
                    counted,
                    bench.program(TREE),
                    *words,
                    *UNCHECKED,
                    "--quiet",
                ],
            )
            if counted.exists():
                times = seconds_of_phases(ncu.read_csv(ncu.read_file(counted), str(counted)))
                bench.record(TREE, *words, *TIMED, more=lambda: {"phases": times})


def seconds_of_phases(launches: Sequence[ncu.Launch]) -> dict[str, float]:
    """Returns the time of each phase in the second of two time steps, because the caches are empty
    during the first."""
    times = dict.fromkeys(PHASES.values(), 0.0)
    of_steps = [
        launch for launch in launches if not any(name in launch.kernel for name in TRANSFERS)
    ]
    for launch in of_steps[len(of_steps) // 2:]:
        phase = next((phase for name, phase in PHASES.items() if name in launch.kernel), None)
        if phase is None:
            raise Failed(f"{launch.kernel}: this kernel belongs to no known phase")
        times[phase] += 1e-6 * launch.values["duration_us"]
    return times


def collision(bench: Bench) -> None:
    rows = bench.folder / "collision.csv"
    rows.unlink(missing_ok=True)
    bench.record(
        TREE,
        *GALAXIES,
        "--steps",
        STEPS_OF_GALAXIES,
        *UNCHECKED,
        "--diagnostics",
        rows,
        "--diagnostics-every",
        STEPS_OF_GALAXIES // ROWS,
        more=lambda: {"energies": energies(rows)},
    )


def energies(diagnostics: Path) -> dict[str, list[float]]:
    """Returns two lists with one entry per row: the index of the time step, and the relative change
    of the energy since the first row."""
    with diagnostics.open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(lines))
    return {
        "step": [float(row["step"]) for row in table],
        "change": [float(row["energy_error"]) for row in table],
    }


def openings(bench: Bench) -> None:
    """steps 15 and 15b: times and errors by angle and by force tolerance; counts of the walks"""
    for (scenario, bodies), steps in OPENED:
        problem = ("--scenario", scenario, "--bodies", bodies, "--softening", 0.05,
                   "--steps", steps)
        for name, option, values in ((TREE, "--theta", ANGLES_OPENED),
                                     (FORCE_AWARE, "--force-tolerance", TOLERANCES)):
            for value in values:
                words = (*problem, option, value, *UNCHECKED)
                more = {"walk": walked(bench, name, words)} if (name, value) in COUNTED else {}
                bench.record(name, *words, "--warmup", 1, "--repeat", 5, "--force-error", 1000,
                             more=lambda: more)


def walked(bench: Bench, name: str, words: tuple) -> dict[str, float]:
    """Returns the counts of Nsight Compute for the tree walks in the first time step."""
    launches = 2 if name == FORCE_AWARE else 1
    log = bench.folder / f"{name}.{words[1]}.{words[3]}.ncu.csv"
    bench.run(f"{log.stem}.log", [
        shutil.which("ncu") or "ncu", *ncu.RAW, "--kernel-name", "regex:advance",
        "--launch-count", launches, "--metrics", ",".join(COUNTERS), "--log-file", log,
        bench.program(name), *words, "--quiet"])
    counted = ncu.read_csv(ncu.read_file(log), str(log))
    return {"instructions": sum(one.values["instructions"] for one in counted),
            "seconds": 1e-6 * sum(one.values["duration_us"] for one in counted)}
