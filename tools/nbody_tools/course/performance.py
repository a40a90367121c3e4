"""Computes the numbers of docs/performance.md: the arithmetic intensity of each step, and how the
total time scales with the number of GPUs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Optional

from nbody_tools.course.hardware import LANES, main_kernels
from nbody_tools.records.facts import FLOPS_PER_INTERACTION, Facts
from nbody_tools.records.record import Record
from nbody_tools.steps import number_of
from nbody_tools.tables import markdown, plain

SECTOR = 32  # bytes
GPUS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Point:
    """A step's point in the roofline figure."""

    step: str
    intensity: float  # flops per byte that loads fetch from L1, L2 or memory
    tflops: float


def roofline(facts: Facts) -> list[Point]:
    """Returns one point per step. The number of bytes is computed from the sectors that Nsight
    Compute counted for global loads, and the number of interactions from the counted instructions.
    An interaction counts as 20 flops. The rate was measured without the profiler."""
    points = []
    for step, profile in main_kernels(facts):
        metrics, measured = profile["metrics"], facts.pick(step, "systems")
        interactions = LANES * metrics["instructions"] / metrics["instructions_per_interaction"]
        if measured is not None:
            points.append(Point(number_of(step), FLOPS_PER_INTERACTION * interactions
                                / (SECTOR * metrics["load_sectors"]),
                                1e-3 * FLOPS_PER_INTERACTION * measured.rate))
    return points


def roofline_records(facts: Facts) -> list[Record]:
    picked = (facts.pick(step, "systems") for step, _ in main_kernels(facts))
    return [measured.record for measured in picked if measured]


def intensities(facts: Facts) -> str:
    peak = facts.machine("gpu", "fp32_peak").number
    rows = [
        [p.step, plain(p.intensity), plain(p.tflops), f"{100 * p.tflops / peak:.0f} %"]
        for p in roofline(facts)
    ]
    return markdown(("step", "flops per byte loaded", "TFLOP/s, kernels", "of the FP32 peak"), rows)


def scaling(facts: Facts, step: str = "step08_multigpu") -> dict[str, dict[int, float]]:
    """Returns the total and compute times of 256 systems, by number of GPUs."""
    found: dict[str, dict[int, float]] = {}
    for quantity in ("total", "compute"):
        values = {count: facts.value(step, "wide", quantity, count) for count in GPUS}
        if all(value.content is not None for value in values.values()):
            found[quantity] = {count: value.number for count, value in values.items()}
    return found


def scaling_records(facts: Facts) -> list[Record]:
    picked = (facts.pick("step08_multigpu", "wide", count) for count in GPUS)
    return [measured.record for measured in picked if measured]


def serial_share(times: dict[int, float], devices: Optional[int] = None) -> float:
    """Returns the serial share s that solves T(D) / T(1) = s + (1 - s) / D. D is `devices` or, by
    default, the largest measured number of GPUs."""
    several = devices or max(times)
    return (times[several] / times[1] - 1 / several) / (1 - 1 / several)


def time_left(times: dict[int, float], known: int, devices: int) -> float:
    """Returns T(devices) / T(1) by Amdahl's law, with the serial share computed from T(known)."""
    share = serial_share(times, known)
    return share + (1 - share) / devices


def drawn_from(facts: Facts) -> dict[str, Any]:
    """Returns the data that the figures of docs/performance.md depend on."""
    found = scaling(facts)
    return {"roofline": [asdict(p) for p in roofline(facts)],
            "scaling": {k: {str(d): t for d, t in v.items()} for k, v in found.items()}}
