"""Figures of the report: every step against the steps before it, and throughput against the
peak."""

from __future__ import annotations

from pathlib import Path

from nbody_tools.figures.performance import (
    ROW_HEIGHT,
    TOTAL_AND_COMPUTE,
    caption,
    draw_speedups,
    draw_step,
    throughput,
)
from nbody_tools.records.facts import FLOPS_PER_INTERACTION
from nbody_tools.figures.style import GREY, pyplot, save
from nbody_tools.records.staircase import Staircase


def draw_throughput_and_peak(staircase: Staircase, peak_tflops: float, path: Path) -> Path:
    """G interactions/s below, GFLOP/s at 20 flops above: the same dots, read on either axis."""
    figure, axes = pyplot.subplots(figsize=(11, 2.0 + ROW_HEIGHT * len(staircase.records)))
    throughput(axes, staircase)
    peak = 1e3 * peak_tflops / FLOPS_PER_INTERACTION
    left, right = axes.get_xlim()
    axes.set_xlim(left, max(right, 4 * peak))
    axes.axvline(peak, color=GREY, linewidth=1.5, linestyle="--", zorder=1)
    # In the first row, where the slowest program leaves space.
    axes.annotate(f"FP32 peak,\n{FLOPS_PER_INTERACTION} flops each", (peak, 0), xytext=(6, 0),
                  textcoords="offset points", va="center", fontsize=11, color="#333333")
    above = axes.secondary_xaxis("top", functions=(lambda x: x * FLOPS_PER_INTERACTION,
                                                   lambda x: x / FLOPS_PER_INTERACTION))
    above.set_xlabel(f"GFLOP/s at {FLOPS_PER_INTERACTION} flops per interaction (a convention)")
    axes.set_title("")
    text = (
        f"Throughput of all steps. {TOTAL_AND_COMPUTE} N² interactions per step and system. "
        f"{FLOPS_PER_INTERACTION} flops per interaction is a convention, not a count: the dashed "
        "line is the FP32 peak divided by it. What limits a kernel is its own number of "
        "instruction slots."
    )
    return save(figure, path, caption(staircase, text))


def draw_all(staircase: Staircase, peak_tflops: float, folder: Path) -> list[Path]:
    paths = [path for record in staircase.records
             for path in draw_step(staircase, record, folder, "png", separate=False)]
    paths.append(draw_throughput_and_peak(staircase, peak_tflops, folder / "report_throughput.png"))
    if staircase.base is not None:
        paths.append(draw_speedups(staircase, folder / "report_speedup.png"))
    return paths
