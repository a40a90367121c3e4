"""Draws the figures of docs/performance.md and docs/cluster.md: the roofline, and the speedup on
several GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import numpy

from nbody_tools.course.performance import Point, serial_share
from nbody_tools.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    GRID,
    ORANGE,
    SOFT,
    VERMILION,
    dates,
    pyplot,
    save,
)
from nbody_tools.records.facts import FLOPS_PER_INTERACTION
from nbody_tools.records.record import Record

INSTRUCTIONS = 13  # fewest instructions per interaction, reached by step 06
SIDES = {
    "01": (8, -5),
    "02": (-28, -5),
    "07": (-28, -5),
    "03": (8, -16),
    "04": (8, 6),
    "06": (-26, 6),
    "09": (8, -4),
    "13": (-28, -5),
}


def gpu_of(records: Sequence[Record]) -> str:
    return str(records[0].data["device"]["name"])


def draw_roofline(
    points: Sequence[Point], machine: dict[str, float], records: Sequence[Record], path: Path
) -> Path:
    """Draws the roofline. `machine` has "peak" in TFLOP/s, and "memory" and "l1" in TB/s."""
    figure, axes = pyplot.subplots(figsize=(10, 7), layout="constrained")
    x = numpy.geomspace(1, 3000, 400)
    peak, slots = machine["peak"], machine["peak"] / 2
    for name, rate, line in (
        ("shared memory and L1", machine["l1"], "-"),
        ("global memory", machine["memory"], "--"),
    ):
        axes.plot(
            x, numpy.minimum(rate * x, peak), line, color=GREY, label=f"{name}: {rate:.3g} TB/s"
        )
    reachable = slots * FLOPS_PER_INTERACTION / INSTRUCTIONS
    axes.axhline(reachable, color=GREEN, linewidth=1.5, linestyle=":")
    axes.annotate(
        f"{INSTRUCTIONS} instructions for {FLOPS_PER_INTERACTION} flops",
        (20, reachable),
        xytext=(0, 5),
        textcoords="offset points",
        color="#00664B",
        fontsize=14,
    )
    axes.annotate(
        f"FP32 peak, {peak:.3g} TFLOP/s",
        (20, peak),
        xytext=(0, 5),
        textcoords="offset points",
        fontsize=14,
        color=SOFT,
    )
    labels: dict[tuple[float, float], list[str]] = {}
    for point in points:
        labels.setdefault((point.intensity, point.tflops), []).append(point.step)
    for (intensity, tflops), steps in labels.items():
        axes.plot(
            intensity, tflops, "o", color=VERMILION if tflops > reachable else BLUE, markersize=8
        )
        axes.annotate(" ".join(steps), (intensity, tflops), xytext=SIDES.get(steps[0], (8, -5)),
                      textcoords="offset points", fontsize=14)
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(1, 3000),
        ylim=(1, 110),
        xlabel="flops per byte of global loads",
        ylabel="TFLOP/s (20 flops per interaction)",
    )
    axes.grid(color=GRID)
    axes.legend(frameon=False, loc="lower left")
    return save(
        figure,
        path,
        "Each step at the arithmetic intensity that Nsight Compute counted and the rate of its "
        f"kernels, 32 x 8192 bodies, {gpu_of(records)}, {dates(records)}. Above the dotted line: "
        "step 12, which computes each "
        "pair once and is credited with both of its interactions.",
    )


def draw_amdahl(times: dict[str, dict[int, float]], records: Sequence[Record], path: Path) -> Path:
    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    devices = numpy.linspace(1, 16, 200)
    axes.plot(devices, devices, color=GREY, linestyle="--", label="ideal")
    for (quantity, measured), colour, marker in zip(times.items(), (VERMILION, BLUE), "os"):
        share = serial_share(measured)
        axes.plot(devices, 1 / (share + (1 - share) / devices), color=colour)
        axes.plot(
            list(measured),
            [measured[1] / t for t in measured.values()],
            marker,
            color=colour,
            markersize=9,
            label=f"{quantity}: serial share {100 * share:.1f} %",
        )
    axes.set(
        xlabel="GPUs",
        ylabel="speedup over one GPU",
        xlim=(1, 16),
        ylim=(1, 16),
        xticks=(1, 2, 4, 8, 16),
    )
    axes.grid(color=GRID)
    axes.legend(frameon=False)
    return save(
        figure,
        path,
        "Step 08, 256 systems of 8192 bodies, 20 steps. Marks: measured on one, "
        f"two, four and eight {gpu_of(records).split()[-1]}s, {dates(records)}. Lines: Amdahl's "
        "law, with the serial share from one and eight GPUs; beyond eight they "
        "are predictions.",
    )


def draw_ranks(
    speedups: dict[str, dict[int, float]], records: Sequence[Record], path: Path
) -> Path:
    """Draws each problem's speedup divided by the number of GPUs, because curves of the speedups
    themselves would overlap."""
    figure, axes = pyplot.subplots(figsize=(10, 6), layout="constrained")
    counts = sorted({count for measured in speedups.values() for count in measured})
    axes.axhline(100, color=GREY, linestyle="--", label="ideal")
    for (name, measured), colour, marker in zip(
        speedups.items(), (BLUE, GREEN, ORANGE, BLACK, VERMILION), "os^Dv"
    ):
        shares = [100 * gain / count for count, gain in measured.items()]
        most = max(measured)
        axes.plot(list(measured), shares, marker=marker, color=colour, markersize=8,
                  label=f"{name}: {measured[most]:.2f} times on {most}")
    axes.set(xscale="log", xlabel="GPUs", ylabel="speedup / number of GPUs (%)", ylim=(80, 101),
             xlim=(counts[0] * 0.93, counts[-1] * 1.08))
    axes.set_xticks(counts)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(color=GRID)
    axes.legend(frameon=False, loc="lower left")
    devices = max(records, key=lambda record: record.device_count)
    return save(figure, path, "Step 14, medians of the runs. In the key: speedup over one GPU. "
                              f"{devices.machine}, {dates(records)}.")
