#!/usr/bin/env python3
"""Writes docs/report.md from docs/report.template.md and from what was measured, and its figures.

  tools/report.py            writes docs/report.md and docs/figures/
  tools/report.py --check    changes nothing; names what is stale, missing or no placeholder

The template describes its placeholders. Numbers come from docs/results/, docs/published.json and
docs/machines.json; a number that stands in the template itself is an error, whether it is right or
not.

Exit code: 0 all is well, 1 something is wrong (or matplotlib is missing), 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional, Sequence

import nbody_arguments as arguments
import timeline
from nbody_arguments import ROOT, ToolError
from nbody_facts import Facts
from nbody_report_tables import table
from nbody_records import Record, read_records
from nbody_staircase import Staircase, staircases
from nbody_template import Rendered, definitions, render
from nbody_timeline import Span, read_timeline

TEMPLATE = Path("docs") / "report.template.md"
REPORT = Path("docs") / "report.md"
FIGURES = Path("docs") / "figures"
SOURCES = FIGURES / "report.json"  # which records the figures were drawn from
GENERATED = f"<!-- Written by tools/report.py from {TEMPLATE.name}: change that, not this. -->\n\n"
TIMELINES = Path("docs") / "results" / "timelines"  # RUN.timeline.csv, and records.jsonl
STAIRCASE = "systems"  # the problem of the figures of steps


def parser() -> arguments.OneLineParser:
    p = arguments.OneLineParser(prog="report.py", description=__doc__)
    p.add_argument("--check", action="store_true", help="change nothing, name what is wrong")
    p.add_argument("--verbose", action="store_true", help="also name optional numbers that are missing")
    p.add_argument("--root", type=arguments.existing_folder, default=ROOT, metavar="DIR",
                   help="of the repository")
    return p


def measured_staircase(facts: Facts) -> Optional[Staircase]:
    """One record a step, on one device: those that the text speaks of."""
    found = [m.record for step in facts.steps if (m := facts.picked(step, STAIRCASE)) is not None]
    # Of runs with other scenarios or softenings, those that most steps have in common.
    return max(staircases(found), key=lambda s: len(s.records), default=None)


@dataclass(frozen=True)
class Figures:
    """What report.py draws, and from what."""

    staircase: Optional[Staircase]
    peak: float
    timelines: dict[str, list[Path]]  # figures by name; of files that are all there

    @property
    def names(self) -> list[str]:
        names = sorted(self.timelines)
        if self.staircase is not None:
            names += [record.step for record in self.staircase.records] + ["report_throughput"]
            names += ["report_speedup"] if self.staircase.base else []
        return names

    @property
    def sources(self) -> str:
        """The same data give the same figures: a digest of the data says whether they are stale."""
        records = self.staircase.records if self.staircase else ()
        data = [self.peak, *(record.data for record in records),
                *(read(path) for name in sorted(self.timelines) for path in self.timelines[name])]
        digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
        return json.dumps({"figures": self.names, "data": digest}, indent=1) + "\n"

    def draw(self, root: Path, facts: Facts) -> Iterator[Path]:
        if self.staircase is not None:
            import figures_report

            yield from figures_report.draw_all(self.staircase, self.peak, root / FIGURES)
        for name, paths in self.timelines.items():
            yield draw_timelines(paths, root / FIGURES / f"{name}.png", facts)
        arguments.write_whole_file(root / SOURCES, self.sources)


def draw_timelines(paths: Sequence[Path], output: Path, facts: Facts) -> Path:
    spans = [read_timeline(path) for path in paths]
    titles = [path.name.split(".")[0].replace("_", " ") for path in paths]
    return timeline.draw(spans, titles, output, record_of_timeline(paths[-1], spans[-1], facts))


def record_of_timeline(path: Path, spans: Sequence[Span], facts: Facts) -> Optional[Record]:
    """Of that run, from records.jsonl beside it; otherwise the newest of as many systems on as many
    devices, which is not the same run but the same program, machine and problem."""
    name, devices = path.name.split(".")[0], len({span.device for span in spans})
    beside = path.parent / "records.jsonl"
    found = read_records(beside) if beside.is_file() else []
    measured = sorted(facts.measured, key=lambda m: m.rank)
    for records in (found, [m.record for m in measured]):
        fitting = [r for r in records if r.step == name and r.device_count == devices
                   and r.problem.systems == len({span.system for span in spans})]
        if fitting:
            return fitting[-1]
    return None


def timelines_there(wanted: dict[str, list[str]], root: Path) -> dict[str, list[Path]]:
    found = {name: [root / TIMELINES / f"{run}.timeline.csv" for run in runs]
             for name, runs in wanted.items()}
    return {name: paths for name, paths in found.items() if all(path.is_file() for path in paths)}


def block(kind: str, name: str, facts: Facts, known: Sequence[str], root: Path) -> Optional[str]:
    if kind == "table":
        return table(name, facts)
    # Other figures of docs/figures/ may be shown too, once they are drawn.
    if name in known or (root / FIGURES / f"{name}.png").is_file():
        return f"![{name.replace('_', ' ')}]({FIGURES.name}/{name}.png)"
    return None


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{path}: cannot be read: {error}") from error


def stale_places(root: Path, new: str, figures: Figures) -> list[str]:
    problems = []
    old = (root / REPORT).read_text(encoding="utf-8") if (root / REPORT).exists() else ""
    if old != new:
        pairs = zip(old.splitlines() + [""], new.splitlines() + [""])
        line = next((i for i, (a, b) in enumerate(pairs, start=1) if a != b), 1)
        changed = sum(text[:1] in "+-" for text in
                      list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=0))[2:])
        problems.append(f"{REPORT}:{line}: out of date ({changed} lines differ); run tools/report.py")
    known = (root / SOURCES).read_text(encoding="utf-8") if (root / SOURCES).exists() else ""
    if known != figures.sources:
        problems.append(f"{SOURCES}: the figures were drawn from other records; run tools/report.py")
    problems += [f"{FIGURES / name}.png: is missing; run tools/report.py"
                 for name in figures.names if not (root / FIGURES / f"{name}.png").is_file()]
    return problems


def say(rendered: Rendered, options: argparse.Namespace) -> None:
    for problem in rendered.problems:
        print(problem)
    if options.verbose:
        for missing in rendered.missing:
            print(f"optional: {missing}")
    if rendered.missing:
        print(f"{len(rendered.missing)} optional numbers, tables or figures are missing"
              + ("" if options.verbose else " (--verbose names them)"))
    if rendered.unwritten:
        print(f"{rendered.unwritten} places wait for an interpretation (<!-- interpret -->)")


def main(words: Optional[Sequence[str]] = None) -> int:
    p = parser()
    options = p.parse_args(words)
    root = options.root
    try:
        template = read(root / TEMPLATE)
        problems, machines, timelines = definitions(template)
        facts = Facts(root, problems, machines)
        figures = Figures(measured_staircase(facts), facts.machine("gpu", "fp32_peak").number,
                          timelines_there(timelines, root))
        rendered = render(template, str(TEMPLATE), facts,
                          lambda kind, name: block(kind, name, facts, figures.names, root))
        text = GENERATED + rendered.text
        if options.check:
            rendered.problems += stale_places(root, text, figures)
        else:
            for path in figures.draw(root, facts):
                print(path.relative_to(root))
            arguments.write_whole_file(root / REPORT, text)
            print(REPORT)
    except ModuleNotFoundError as missing:
        arguments.fail(f"{p.prog}: needs the Python module {missing.name} (Debian, Ubuntu: apt "
                       f"install python3-{missing.name}, and run it with /usr/bin/python3)", code=1)
    except ToolError as error:
        arguments.fail(f"{p.prog}: {error}", code=1)
    say(rendered, options)
    return 1 if rendered.problems else 0


if __name__ == "__main__":
    sys.exit(main())
