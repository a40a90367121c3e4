"""Draws which stages overlapped, from the CSV file that steps 05 to 09 write with --timeline FILE.

  ./nbody timeline overlap.csv --output overlap.png --record record.jsonl
  ./nbody timeline by_system.csv by_stage.csv --output orders.png   stacked, on one time axis

Each stream is a row of bars coloured by stage. Prints the total time of each stage and the share of
the copies that was hidden under compute. Draws nothing without --output.

Exit code: 0 success; 1 matplotlib is missing; 2 an argument or a file is wrong (one-line message).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Optional, Sequence, TYPE_CHECKING

from nbody_tools import arguments
from nbody_tools.arguments import ToolError
from nbody_tools.design.tokens import colour
from nbody_tools.records.record import Record, read_records
from nbody_tools.records.timeline import STAGES, Span, TimelineError, read_timeline, sums, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VISIBLE = 0.01  # share of the axis; narrower bars appear again in the second panel
CLOSER = 1.6  # time span of the second panel, relative to the duration of the first uploads
ROW_HEIGHT = 0.2  # inches
MANY_ROWS = 32  # with at least this many rows, each row is half as high
LABELS = 8  # approximate number of labelled rows in a panel


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("timeline", nargs="+", type=arguments.existing_file, metavar="FILE.csv")
    p.add_argument("--output", type=arguments.figure_file, metavar="FILE")
    p.add_argument("--title", action="append", metavar="TEXT", default=[],
                   help="title of a panel; once per file [the file's name]")
    p.add_argument("--record", type=arguments.existing_file, metavar="FILE",
                   help="records of the run; the caption then states its step, machine and date")
    p.add_argument("--step", metavar="NAME",
                   help="the step whose record is used [the step of the last record]")


def record_of(source: Path, step: Optional[str]) -> Record:
    records = [record for record in read_records(source) if step in (None, record.step)]
    if not records:
        raise TimelineError(f"{source}: holds no record of {step}")
    if records[-1].emulated:
        raise TimelineError(f"{source}: {records[-1].step} was emulated, so its times mean nothing")
    return records[-1]


def closer_window(spans: Sequence[Span]) -> Optional[tuple[float, float]]:
    """Returns the time span of a second, enlarged panel, or None if the first panel shows the first
    copies clearly enough."""
    wall = max(span.end for span in spans)
    uploads = sorted((span for span in spans if span.stage == "upload"), key=lambda s: s.begin)
    longest = max((span.end - span.begin for span in uploads), default=wall)
    if longest >= VISIBLE * wall:
        return None
    # If a system is uploaded only after the one before has been downloaded, shows these copies.
    downloaded = min((span.end for span in spans if span.stage == "download"), default=wall)
    if len(uploads) > 1 and uploads[1].begin >= downloaded:
        return downloaded - 8 * longest, uploads[1].end + 8 * longest
    # If uploads continue to the end of the run, the panel shows only the first ones.
    first = uploads[0].begin
    return 0, min(first + CLOSER * max(16 * longest, min(s.end for s in uploads) - first), wall)


def label_of(device: int, stream: int, several: bool) -> str:
    """Returns the label of a row. If there are several devices, the label of
    the first row of each device contains the device's number."""
    if not several:
        return str(stream)
    return f"GPU {device}, stream 0" if stream == 0 else f"stream {stream}"


def draw_panel(axes: Axes, spans: Sequence[Span], begin: float, end: float,
               colours: dict[str, str]) -> None:
    rows = sorted({(span.device, span.stream) for span in spans})
    places = {row: i for i, row in enumerate(rows)}
    for stage in STAGES:
        shown = [s for s in spans if s.stage == stage and s.begin <= end and s.end >= begin]
        # Because of a thin edge in the bar's colour, even the narrowest bar is one pixel wide.
        axes.barh([places[s.device, s.stream] for s in shown],
                  [1e3 * (s.end - s.begin) for s in shown], left=[1e3 * s.begin for s in shown],
                  height=0.85, color=colours[stage], edgecolor=colours[stage], linewidth=0.3,
                  label=stage, zorder=2 if stage == "compute" else 3)
    several = len({device for device, _ in rows}) > 1
    for place, (device, stream) in enumerate(rows[1:], start=1):
        if device != rows[place - 1][0]:
            axes.axhline(place - 0.5, color=colour("soft"), linewidth=0.8)
    step = max(1, len(rows) // LABELS)
    ticks = [i for i, row in enumerate(rows) if row[1] % step == 0]
    axes.set_yticks(ticks, [label_of(*rows[i], several) for i in ticks], fontsize=12)
    if not several:
        axes.set_ylabel("stream")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(1e3 * begin, 1e3 * (end + 0.01 * (end - begin)))
    axes.grid(axis="x", color=colour("grid"), linewidth=0.8)


def draw(timelines: Sequence[Sequence[Span]], titles: Sequence[str], path: Path,
         record: Optional[Record]) -> Path:
    from nbody_tools.figures.style import BLUE, ORANGE, SKY_BLUE, literal, pyplot, save

    # These three colours also differ in lightness, so they remain distinguishable in greyscale.
    colours = {"upload": BLUE, "compute": SKY_BLUE, "download": ORANGE}
    closer = [window for spans in timelines if (window := closer_window(spans))]
    columns = 2 if closer else 1
    end = max(span.end for spans in timelines for span in spans)
    from_, near = min(closer, default=(0, end))[0], max(end for _, end in closer or [(0, end)])
    rows = [len({(s.device, s.stream) for s in spans}) for spans in timelines]
    heights = [max(1.6, ROW_HEIGHT * (count if count <= MANY_ROWS else 0.5 * count))
               for count in rows]
    figure, grid = pyplot.subplots(
        len(timelines),
        columns,
        squeeze=False,
        figsize=(13, sum(heights) + 1.1 * len(heights) + 0.5),
        gridspec_kw={
            "height_ratios": heights,
            "width_ratios": [3, 2][:columns],
            "wspace": 0.12,
            "hspace": 1.0 / (sum(heights) / len(heights)),
        },
    )
    for line, (spans, title) in zip(grid, zip(timelines, titles)):
        draw_panel(line[0], spans, 0, end, colours)
        line[0].set_title(literal(title))
        line[0].set_xlabel("time (ms)")
        if columns == 2:
            draw_panel(line[1], spans, from_, near, colours)
            line[1].set_title(f"from {1e3 * from_:.3g} to {1e3 * near:.3g} ms" if from_ > 0 else
                              f"the first {1e3 * near:.2g} ms")
            line[1].set_xlabel("time (ms)")
            line[1].set_ylabel("")
            line[1].locator_params(axis="x", nbins=5)  # labels such as 11.425 need space
            if len({span.device for span in spans}) > 1:  # long labels fit only on the left
                line[1].tick_params(labelleft=False)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=3, frameon=False,
                  bbox_to_anchor=(0.5, figure.subplotpars.top + 0.4 / figure.get_figheight()))
    return save(figure, path, caption(timelines, titles, record))


def caption(timelines: Sequence[Sequence[Span]], titles: Sequence[str],
            record: Optional[Record]) -> str:
    words = []
    for spans, title in zip(timelines, titles):
        total = sums(spans)
        name = f"{title}: " if len(timelines) > 1 else ""
        words.append(
            f"{name}{1e3 * total.wall:.3g} ms in all; copies take {1e3 * total.copies:.3g} "
            f"ms, of which {100 * total.hidden_share:.0f} % is hidden under compute."
        )
    words.append("A bar begins when the previous stage of its stream has ended, so waiting for the "
                 "device counts as part of a stage.")
    if record is not None:
        words.append(f"{record.step}, {record.problem}. {record.machine}, {record.date[:10]}.")
    return " ".join(words)


def run(options: argparse.Namespace) -> int:
    if options.title and len(options.title) != len(options.timeline):
        raise ToolError(f"{len(options.title)} titles for {len(options.timeline)} files")
    if options.step and not options.record:
        raise ToolError("--step needs --record")
    titles = options.title or [path.stem.replace("_", " ") for path in options.timeline]
    timelines = [read_timeline(path) for path in options.timeline]
    record = record_of(options.record, options.step) if options.record else None
    for path, spans in zip(options.timeline, timelines):
        print(f"{path}: {summary(spans)}")
    if options.output:
        print(draw(timelines, titles, options.output, record))
    return 0
