"""Draws the report's figure: the time, throughput and speedup of every step, one row per step."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from nbody_tools.figures.performance import (
    ROW_HEIGHT,
    TOTAL_AND_COMPUTE,
    caption,
    execution_time,
    speedup_over_base,
    throughput,
)
from nbody_tools.records.facts import FLOPS_PER_INTERACTION
from nbody_tools.figures.style import GREY, pyplot, save
from nbody_tools.records.staircase import Staircase


def draw_all(staircase: Staircase, peak_tflops: float, folder: Path) -> list[Path]:
    panels: list[Callable[..., None]] = [execution_time, throughput]
    panels += [speedup_over_base] if staircase.base is not None else []
    figure, grid = pyplot.subplots(1, len(panels), sharey=True, gridspec_kw={"wspace": 0.08},
                                   figsize=(5 * len(panels),
                                            2.0 + ROW_HEIGHT * len(staircase.records)))
    for axes, draw in zip(grid, panels):
        draw(axes, staircase)
    peak = 1e3 * peak_tflops / FLOPS_PER_INTERACTION
    left, right = grid[1].get_xlim()
    grid[1].set_xlim(left, max(right, 4 * peak))
    grid[1].axvline(peak, color=GREY, linewidth=1.5, linestyle="--", zorder=1)
    text = (
        f"All steps. {TOTAL_AND_COMPUTE} N² interactions per step and system. Dashed: the FP32 "
        f"peak at {FLOPS_PER_INTERACTION} flops per interaction, a convention and not a count. "
        "Speedup: over the CPU program of step 00 on a machine of the same kind."
    )
    return [save(figure, folder / "steps.svg", caption(staircase, text))]
