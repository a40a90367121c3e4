"""Makes the tables of docs/accuracy.md and experiments/tensor_cores from the records of `./nbody
measure accuracy`, `long_disk`, `tensor_cores` and `production_sums`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Callable, Sequence

from nbody_tools.records.facts import Value
from nbody_tools.records.record import (
    BACKENDS,
    VERDICTS,
    Record,
    check_measurement,
    newest_measured,
)
from nbody_tools.steps import STEP_NAME, number_of
from nbody_tools.tables import markdown, plain, seconds

ERRORS = {"rms": "RMS", "median": "median", "p99": "99 %", "p999": "99.9 %"}
DRIFTS = {"energy": "energy", "momentum": "momentum", "angular_momentum": "angular momentum"}
DISK = {"half_mass_radius": "half-mass radius", "thickness": "thickness",
        "vertical_dispersion": "vertical velocity, RMS"}
RUNNING_SUMS = ("step00_cpu_omp", "step01_gpu_naive", "step02_layout", "step11_running_sum")
SUMS = {
    "acceleration": "acceleration",
    "acceleration_potential": "acceleration and potential",
    "acceleration_jerk": "acceleration and jerk",
    "acceleration_jerk_potential": "acceleration, jerk and potential",
}


def check_force_error(data: Any) -> None:
    """Raises ValueError unless the run had --force-error."""
    check_measurement(data)
    errors = data.get("force_error")
    if not isinstance(errors, dict) or not all(
        number(errors.get(key)) for key in ("bodies", *ERRORS)
    ):
        raise ValueError(f"'force_error' is {errors!r}")


def check_drift(data: Any) -> None:
    """Raises ValueError unless the record is from ./nbody measure long_disk."""
    check_measurement(data)
    drift, disk = data.get("drift"), data.get("disk")
    if not isinstance(drift, dict) or not all(
        isinstance(drift.get(key), list) and all(map(number, drift[key]))
        for key in ("step", *DRIFTS)
    ):
        raise ValueError("'drift' is missing or wrong")
    if not isinstance(disk, dict) or not all(
        number(disk.get(when, {}).get(key)) for when in ("start", "end") for key in DISK
    ):
        raise ValueError("'disk' is missing or wrong")


def check_sums(data: Any) -> None:
    """Raises ValueError unless the record is from experiments/production_sums."""
    if not isinstance(data, dict) or not isinstance(data.get("device"), dict):
        raise ValueError("'device' is missing")
    for key, allowed in (("sums", SUMS), ("backend", BACKENDS), ("verdict", VERDICTS)):
        if data.get(key) not in allowed:
            raise ValueError(f"'{key}' is {data.get(key)!r}, not one of {', '.join(allowed)}")
    for key in ("bodies", "median", "iqr", "interactions_per_second"):
        if not number(data.get(key)):
            raise ValueError(f"'{key}' is {data.get(key)!r}, not a valid number")
    if not isinstance(data.get("errors"), dict):
        raise ValueError("'errors' is missing")


def number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def force_errors(results: Path) -> list[Record]:
    return newest_measured(results / "accuracy_speed", check_force_error)


def disks(results: Path) -> list[Record]:
    return newest_measured(results / "long_disk", check_drift)


def name_of(record: Record) -> str:
    """Returns a name such as "11 register blocking, float64" or "tensor cores"."""
    label = record.label if STEP_NAME.fullmatch(record.step) else record.step.replace("_", " ")
    return label + (", float64" if record.data.get("precision") == "double" else "")


def kind_of(record: Record) -> str:
    """Returns how the record's program sums the forces."""
    if record.data.get("precision") == "double":
        return "float64"
    if record.step in RUNNING_SUMS:
        return "float32, one running sum"
    return "float32, compensated" if "kahan" in record.step else "float32, a sum per tile"


def rate(record: Record) -> float:
    return record.giga_interactions_per_second("compute").median


def error_table(records: Sequence[Record]) -> str:
    """Returns one table per problem, sorted by step rather than by time of measurement."""
    parts = []
    for problem in dict.fromkeys(r.problem for r in records):
        chosen = sorted(
            (r for r in records if r.problem == problem), key=lambda r: number_of(r.step)
        )
        rows = [
            [
                name_of(r),
                kind_of(r) if "tensor" not in r.step else "products in TF32",
                plain(rate(r)),
                *(f"{r.data['force_error'][key]:.1e}" for key in ERRORS),
            ]
            for r in chosen
        ]
        first = chosen[0]
        parts.append(f"The problem is {problem.systems} x {problem.bodies} bodies "
                     f"({problem.scenario}, softening {problem.softening:g}); the errors were "
                     f"computed for {first.data['force_error']['bodies']} of them. Measured on "
                     f"{machines(chosen)}, {first.date[:10]}:\n\n"
                     + markdown(("program", "sums", "G interactions/s", *ERRORS.values()), rows))
    return "\n\n".join(parts)


def machines(records: Sequence[Record]) -> str:
    return " and ".join(dict.fromkeys(record.machine for record in records))


def drift_table(records: Sequence[Record]) -> str:
    """Returns a table of the largest changes during a run and the disk's properties at the end."""
    if not records:
        return ""
    first = records[0]
    rows = [
        [
            name_of(r),
            kind_of(r),
            *(f"{max(map(abs, r.data['drift'][key])):.1e}" for key in DRIFTS),
            *(f"{r.data['disk']['end'][key]:.4f}" for key in DISK),
            seconds(r.seconds("compute").median),
        ]
        for r in records
    ]
    start = [
        "at the start",
        "",
        *("" for _ in DRIFTS),
        *(f"{first.data['disk']['start'][key]:.4f}" for key in DISK),
        "",
    ]
    return f"Measured on {machines(records)}, {first.date[:10]}: {first.problem}.\n\n" + markdown(
        ("program", "sums", *DRIFTS.values(), *DISK.values(), "time of the kernels"), [start, *rows]
    )


def sums_table(records: Sequence[Record]) -> str:
    if not records:
        return ""
    rows = []
    for r in records:
        errors = [r.data["errors"].get(key) for key in ("acceleration", "potential", "jerk")]
        rows.append(
            [
                str(r.data["bodies"]),
                SUMS[r.data["sums"]],
                plain(1e-9 * r.data["interactions_per_second"]),
                f"{100 * r.data['iqr'] / r.data['median']:.1f} %",
                *("" if error is None else f"{error:.1e}" for error in errors),
                r.verdict,
            ]
        )
    return f"Measured on {machines(records)}, {records[0].date[:10]}:\n\n" + markdown(
        (
            "bodies",
            "sums",
            "G interactions/s",
            "IQR of the times",
            "error of the acceleration, RMS",
            "of the potential",
            "of the jerk",
            "verdict",
        ),
        rows,
    )


def words(results: Path) -> dict[str, Callable[..., Value]]:
    """Returns functions that make these tables for templates. Without measurements, a function
    returns a Value without content."""
    def optional(name: str, text: str) -> Value:
        return Value(text or None, "text", f"{name}()")

    return {
        "force_errors": lambda: optional("force_errors", error_table(force_errors(results))),
        "long_disk": lambda: optional("long_disk", drift_table(disks(results))),
        "tensor_cores": lambda: optional("tensor_cores", error_table(
            newest_measured(results / "tensor_cores", check_force_error))),
        "production_sums": lambda: optional("production_sums", sums_table(
            newest_measured(results / "production_sums", check_sums)))}
