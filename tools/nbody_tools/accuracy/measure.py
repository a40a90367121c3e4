"""Defines the parts of ./nbody measure about accuracy, for docs/results/accuracy_speed/,
long_disk/, tensor_cores/, production_sums/ and docs/accuracy.md. Uses only the standard library,
because a machine with a GPU may lack other packages."""

from __future__ import annotations

import csv
import math
import statistics
from pathlib import Path
from typing import Any

from nbody_tools.measure.bench import Bench
from nbody_tools.steps import number_of

MANY = (
    "--scenario",
    "galaxies",
    "--systems",
    32,
    "--bodies",
    8192,
    "--steps",
    5,
    "--warmup",
    1,
    "--repeat",
    3,
)
ONE = ("--scenario", "plummer", "--bodies", 262144, "--steps", 3, "--warmup", 1, "--repeat", 5)
# Forces are compared on 8192 bodies of MANY (one in 32) and on 4096 bodies of ONE (one in 64).
# So 8 or 4 of the errors are above the 99.9th percentile.
COMPARED_OF_MANY = ("--validate", "off", "--force-error", 8192)
COMPARED_OF_ONE = ("--validate", "off", "--force-error", 4096)
FIRST_STEP_OF_MANY_BLOCKS = "04b"  # from this step on, one system can use the whole device
FLOAT64 = ("--precision", "double")
IN_FLOAT64 = "step11_register_blocking"
SUMMATIONS = ("step11_running_sum", "step11_kahan_tiles", "step11_kahan")
TENSOR_CORES = ("tensor_cores", "tensor_cores_one_origin", "tensor_cores_one_part")

DISK = (
    "--scenario",
    "disk-halo",
    "--bodies",
    32768,
    "--softening",
    0.05,
    "--dt",
    0.01,
    "--integrator",
    "leapfrog",
    "--validate",
    "off",
)
DISK_STEPS, DISK_ROWS = 10000, 20
DISK_RUNS = (
    ("step11_register_blocking", FLOAT64),
    ("step11_register_blocking", ()),
    ("step12_newton3", ()),
    ("step11_running_sum", ()),
)


def accuracy(bench: Bench) -> None:
    """force errors and rates of all steps, and of variants that sum in other ways"""
    for step in bench.steps:
        bench.record(step, *MANY, *COMPARED_OF_MANY)
    for name in (*(step for step in bench.steps if number_of(step) >= FIRST_STEP_OF_MANY_BLOCKS),
                 *bench.built(*SUMMATIONS)):
        bench.record(name, *ONE, *COMPARED_OF_ONE)
    bench.record(IN_FLOAT64, *FLOAT64, *MANY, *COMPARED_OF_MANY)
    bench.record(IN_FLOAT64, *FLOAT64, *ONE, *COMPARED_OF_ONE)


def tensor_cores(bench: Bench) -> None:
    """experiments/tensor_cores next to steps 11 and 12: rates and force errors"""
    for bodies in (16384, 65536, 262144):
        for name in ("step11_register_blocking", "step12_newton3", *bench.built(*TENSOR_CORES)):
            bench.record(
                name,
                "--scenario",
                "plummer",
                "--bodies",
                bodies,
                "--steps",
                5,
                "--warmup",
                1,
                "--repeat",
                10,
                *COMPARED_OF_ONE,
            )


def production_sums(bench: Bench) -> None:
    """experiments/production_sums: its tests, then its rates when it also sums potential or jerk"""
    bench.run_experiment("production_sums")


def long_disk(bench: Bench) -> None:
    """10,000 steps of a disk galaxy in float64 and in float32, summed in several ways"""
    start, end, rows = (bench.folder / name for name in ("start.csv", "end.csv", "diagnostics.csv"))
    program = bench.program(IN_FLOAT64)
    bench.run("start.log", [program, *DISK, "--steps", 0, "--quiet", "--output", start])
    before = disk_of(start)
    for name, words in DISK_RUNS:
        if not bench.built(name):
            continue
        for old in (end, rows):
            old.unlink(missing_ok=True)
        bench.record(
            name,
            *words,
            *DISK,
            "--steps",
            DISK_STEPS,
            "--diagnostics",
            rows,
            "--diagnostics-every",
            DISK_STEPS // DISK_ROWS,
            "--output",
            end,
            more=lambda: {
                "drift": drift_of(rows, before["mass"]),
                "disk": {"start": before, "end": disk_of(end)},
            },
        )
    for large in (start, end):
        large.unlink(missing_ok=True)


def drift_of(diagnostics: Path, mass: float) -> dict[str, list[float]]:
    """Returns lists with one entry per row: the step, the time, and three changes since the start.
    The changes of energy and angular momentum are relative; the change of momentum is in units of
    mass times initial RMS speed."""
    with diagnostics.open(encoding="utf-8", newline="") as lines:
        table = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]

    def vector(row: dict[str, float], name: str) -> list[float]:
        return [row[f"{name}_{axis}"] for axis in "xyz"]

    first = table[0]
    momentum = math.sqrt(2 * first["kinetic"] * mass)
    turning = math.hypot(*vector(first, "angular_momentum"))
    return {
        "step": [row["step"] for row in table],
        "time": [row["time"] for row in table],
        "energy": [row["energy_error"] for row in table],
        "momentum": [
            math.dist(vector(row, "momentum"), vector(first, "momentum")) / momentum
            for row in table
        ],
        "angular_momentum": [
            math.dist(vector(row, "angular_momentum"), vector(first, "angular_momentum")) / turning
            for row in table
        ],
    }


def disk_of(bodies: Path) -> dict[str, Any]:
    """Returns the mass of all bodies and three properties of the disk: the radius that contains
    half of its bodies, its RMS thickness, and its RMS velocity perpendicular to the plane."""
    with bodies.open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    disk = [row for row in table if row["species"] == "disk"]

    def column(name: str) -> list[float]:
        values = [float(row[name]) for row in disk]
        middle = statistics.median(values)
        return [value - middle for value in values]

    return {"mass": math.fsum(float(row["m"]) for row in table),
            "half_mass_radius": statistics.median(map(math.hypot, column("x"), column("y"))),
            "thickness": math.sqrt(statistics.fmean(z * z for z in column("z"))),
            "vertical_dispersion": math.sqrt(statistics.fmean(v * v for v in column("vz")))}
