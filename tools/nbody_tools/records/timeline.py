"""Reads the time spans that a step wrote with --timeline, and adds up their overlaps.

Uses only the standard library, because the sums are also needed on machines without matplotlib.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Iterable, Sequence

from nbody_tools.arguments import ToolError, read_whole_file

COLUMNS = ["device", "stream", "system", "stage", "begin", "end"]
STAGES = ("upload", "compute", "download")

Interval = tuple[float, float]


class TimelineError(ToolError):
    """An invalid timeline; the message gives the file and the line."""


@dataclass(frozen=True)
class Span:
    device: int
    stream: int
    system: int
    stage: str
    begin: float  # seconds
    end: float

    interval = property(lambda self: (self.begin, self.end))


def read_timeline(path: Path) -> list[Span]:
    rows = list(csv.reader(read_whole_file(path, TimelineError).splitlines()))
    if not rows or rows[0] != COLUMNS:
        raise TimelineError(f"{path}:1: the columns must be {','.join(COLUMNS)}")
    spans = [parse_row(row, f"{path}:{line}") for line, row in enumerate(rows[1:], start=2) if row]
    if not spans:
        raise TimelineError(f"{path}: holds no spans")
    return in_stream_order(spans)


def in_stream_order(spans: Sequence[Span]) -> list[Span]:
    """Shortens spans so that none begins before the previous span in its stream ends. A recorded
    span lasts from one event of a system to the next event of the same system. In between, the
    stream may have worked on other systems."""
    ended: dict[tuple[int, int], float] = {}
    result = []
    for span in sorted(spans, key=lambda s: (s.end, s.begin, STAGES.index(s.stage))):
        stream = (span.device, span.stream)
        result.append(replace(span, begin=max(span.begin, ended.get(stream, 0.0))))
        ended[stream] = span.end
    return result


def parse_row(row: Sequence[str], where: str) -> Span:
    try:
        device, stream, system, stage, begin, end = row
        span = Span(int(device), int(stream), int(system), stage, float(begin), float(end))
    except ValueError as error:
        raise TimelineError(f"{where}: not a span: {','.join(row)}") from error
    if stage not in STAGES:
        raise TimelineError(f"{where}: stage '{stage}' is not one of {', '.join(STAGES)}")
    if not (math.isfinite(span.begin) and math.isfinite(span.end) and 0 <= span.begin <= span.end):
        raise TimelineError(f"{where}: from {begin} to {end} is not a time span")
    return span


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Merges overlapping intervals; returns them in order of time."""
    result: list[Interval] = []
    for begin, end in sorted(intervals):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((begin, end))
    return result


def length(intervals: Iterable[Interval]) -> float:
    return math.fsum(end - begin for begin, end in intervals)


def common(first: Sequence[Interval], second: Sequence[Interval]) -> list[Interval]:
    """Returns the intersection of two lists of merged intervals."""
    shared, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        begin, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if begin < end:
            shared.append((begin, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return shared


@dataclass(frozen=True)
class Sums:
    """Sums in seconds. Unions are computed for each device separately, because a kernel hides only
    copies of its own device."""

    total: dict[str, float]  # by stage: summed lengths of all spans
    union: dict[str, float]  # by stage: time in which at least one span ran
    copies: float  # time in which at least one upload or download ran
    hidden: float  # part of `copies` during which a kernel ran on the same device
    wall: float  # time from the first span's begin to the last span's end

    @property
    def hidden_share(self) -> float:
        return self.hidden / self.copies if self.copies > 0 else 0.0


def sums(spans: Sequence[Span]) -> Sums:
    union = dict.fromkeys(STAGES, 0.0)
    copies = hidden = 0.0
    for device in sorted({span.device for span in spans}):
        own = [span for span in spans if span.device == device]
        by_stage = {stage: merged(s.interval for s in own if s.stage == stage) for stage in STAGES}
        for stage in STAGES:
            union[stage] += length(by_stage[stage])
        both = merged([*by_stage["upload"], *by_stage["download"]])
        copies += length(both)
        hidden += length(common(both, by_stage["compute"]))
    total = {stage: length(s.interval for s in spans if s.stage == stage) for stage in STAGES}
    wall = max(span.end for span in spans) - min(span.begin for span in spans)
    return Sums(total, union, copies, hidden, wall)


def summary(spans: Sequence[Span]) -> str:
    total_times = sums(spans)
    devices = len({span.device for span in spans})
    streams = len({(span.device, span.stream) for span in spans})
    lines = [f"{devices} device{'s' * (devices > 1)}, {streams} stream{'s' * (streams > 1)}, "
             f"{1e3 * total_times.wall:.3f} ms from the first start to the last end",
             f"  {'stage':<9} {'sum, ms':>11} {'union, ms':>11}"]
    lines += [f"  {stage:<9} {1e3 * total_times.total[stage]:>11.3f} "
              f"{1e3 * total_times.union[stage]:>11.3f}"
              for stage in STAGES]
    lines.append(
        f"  copies: {1e3 * total_times.copies:.3f} ms, of which {1e3 * total_times.hidden:.3f} ms "
        f"({100 * total_times.hidden_share:.1f} %) hidden under compute of the same device"
    )
    return "\n".join(lines)
