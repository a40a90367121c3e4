"""Draws the figures of docs/report.md from the measurements, and writes the report and its tables.

  ./nbody report            draws docs/figures/; writes docs/report.md and docs/report_tables.md
  ./nbody report --check    changes nothing; reports numbers that are outdated, missing or typed in
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

from nbody_tools.accuracy import tables as accuracy
from nbody_tools.arguments import ROOT, existing_folder, write_whole_file
from nbody_tools.cluster import tables as cluster_tables
from nbody_tools.course import performance
from nbody_tools.documents.documents import (
    REPORT,
    REPORT_TABLES,
    report_problems,
    update,
    words_for,
)
from nbody_tools.documents.templates import Rendered
from nbody_tools.documents.vocabulary import RESULTS, Vocabulary
from nbody_tools.records.facts import Facts
from nbody_tools.records.record import Record, check_measurement, newest_measured, read_records
from nbody_tools.records.staircase import Staircase, staircases
from nbody_tools.records.timeline import Span, read_timeline
from nbody_tools.sweep.charts import Chart, charts
from nbody_tools.sweep.cloud import Cloud, drawn_clouds
from nbody_tools.tree import programs, tables as tree_page
from nbody_tools.tree.peers import Peer
from nbody_tools.tree.programs import Point

FIGURES = Path("docs") / "figures"
DRAWN_FROM = FIGURES / "report.json"  # contains a digest of the records that the figures show
TIMELINES = Path("docs") / "results" / "timelines"  # contains RUN.timeline.csv and records.jsonl
PHOTOGRAPHS = ("galaxies",)
GALAXIES = Path("docs") / "results" / "galaxies"  # contains a record and star maps of its states
STAIRCASE = "systems"  # the problem for which figures compare the steps


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("--check", action="store_true", help="change nothing, and list problems")
    p.add_argument("--verbose", action="store_true", help="also list missing optional numbers")
    p.add_argument(
        "--root", type=existing_folder, default=ROOT, metavar="DIR", help="root of the repository"
    )


def measured_staircase(facts: Facts) -> Optional[Staircase]:
    """Returns one record per step, measured on one device. The report describes these records."""
    records = [m.record for step in facts.steps if (m := facts.pick(step, STAIRCASE)) is not None]
    # If scenarios or softenings differ, takes the combination that most steps share.
    return max(staircases(records), key=lambda s: len(s.records), default=None)


@dataclass(frozen=True)
class Figures:
    """The data of all figures to draw."""

    staircase: Optional[Staircase]
    peak: float
    timelines: dict[str, list[Path]]  # files by figure; only figures whose files all exist
    errors: Sequence[Record] = ()  # records of force errors
    disks: Sequence[Record] = ()
    tree: Sequence[Record] = ()  # from ./nbody measure tree
    galaxies: Sequence[Record] = ()  # from ./nbody measure galaxies
    beside_peers: Sequence[Record] = ()  # from ./nbody measure tree_peers
    peers: Sequence[Peer] = ()
    programs: Sequence[Record] = ()  # steps of docs/results/tree_programs/
    other_programs: Sequence[Point] = ()
    limits: dict[str, Any] = field(default_factory=dict)  # for the performance and cluster pages
    clouds: Sequence[Cloud] = ()
    charts: Sequence[Chart] = ()  # figures of docs/reports/, redrawn from our data

    @property
    def names(self) -> list[str]:
        names = sorted(self.timelines)
        if self.staircase is not None:
            names += ["steps"]
        names += ["accuracy"] if self.errors else []
        names += ["long_disk"] if self.disks else []
        names += ["galaxies"] if self.galaxies else []
        names += ["tree_cost"] if self.beside_peers and self.peers else []
        names += ["tree_programs"] if self.programs and self.other_programs else []
        names += ["tree_time", "tree_error"] if self.tree else []
        names += ["cloud"] if self.clouds else []
        names += [chart.name for chart in self.charts]
        names += ["reports/map_figure_12"] if self.charts else []
        return names + [
            name for name in ("roofline", "scaling", "cluster") if self.limits.get(name)
        ]

    @property
    def sources(self) -> str:
        """Returns a digest of the data. If it has changed, the figures are out of date."""
        records = (
            *(self.staircase.records if self.staircase else ()),
            *self.errors,
            *self.disks,
            *self.tree,
            *self.galaxies,
            *self.beside_peers,
            *self.programs,
        )
        data = [
            self.peak,
            self.limits,
            *(cloud.rates for cloud in self.clouds),
            *map(asdict, self.charts),
            *(record.data for record in records),
            *map(asdict, self.peers),
            *map(asdict, self.other_programs),
            *(
                path.read_text(encoding="utf-8")
                for name in sorted(self.timelines)
                for path in self.timelines[name]
            ),
        ]
        digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
        return json.dumps({"figures": self.names, "data": digest}, indent=1) + "\n"

    def draw(self, root: Path, facts: Facts) -> Iterator[Path]:
        if self.staircase is not None:
            from nbody_tools.figures.report import draw_all

            yield from draw_all(self.staircase, self.peak, root / FIGURES)
        for name, paths in self.timelines.items():
            yield draw_timelines(paths, root / figure_file(name), facts)
        if self.errors or self.disks:
            from nbody_tools.accuracy import figures as drawn

            if self.errors:
                yield drawn.draw_errors(self.errors, root / figure_file("accuracy"))
            if self.disks:
                yield drawn.draw_disks(self.disks, root / figure_file("long_disk"))
        if self.tree:
            from nbody_tools.tree import figures as drawn_tree

            yield drawn_tree.draw_times(self.tree, root / figure_file("tree_time"))
            yield drawn_tree.draw_errors(self.tree, root / figure_file("tree_error"))
        if self.galaxies:
            from nbody_tools.figures import galaxies as drawn_galaxies

            yield drawn_galaxies.draw(
                self.galaxies[-1], root / GALAXIES, root / figure_file("galaxies")
            )
        if self.beside_peers and self.peers:
            from nbody_tools.tree import figures as drawn_costs

            yield drawn_costs.draw_costs(
                self.beside_peers, self.peers, root / figure_file("tree_cost")
            )
        if self.programs and self.other_programs:
            from nbody_tools.tree import figures as drawn_programs

            yield drawn_programs.draw_programs(
                self.programs, self.other_programs, root / figure_file("tree_programs")
            )
        yield from self.draw_limits(root, facts)
        if self.clouds:
            from nbody_tools.sweep.figure import draw as draw_clouds

            yield draw_clouds(self.clouds, root / figure_file("cloud"))
        for chart in self.charts:
            from nbody_tools.sweep.figure import draw_chart

            yield draw_chart(chart, root / figure_file(chart.name))
        if self.charts:
            from nbody_tools.sweep.figure import OUT_OF_SYNC, draw_out_of_sync

            yield draw_out_of_sync(
                root / OUT_OF_SYNC, root / figure_file("reports/map_figure_12")
            )
        write_whole_file(root / DRAWN_FROM, self.sources)

    def draw_limits(self, root: Path, facts: Facts) -> Iterator[Path]:
        from nbody_tools.figures import limits as drawn

        if self.limits.get("roofline"):
            l1_bytes, sms, clock, memory = (facts.machine("gpu", fact).number
                                            for fact in ("l1_bytes", "sms", "clock", "bandwidth"))
            machine = {"peak": self.peak, "memory": memory, "l1": 1e-3 * l1_bytes * sms * clock}
            yield drawn.draw_roofline(
                performance.roofline(facts),
                machine,
                performance.roofline_records(facts),
                root / figure_file("roofline"),
            )
        if self.limits.get("scaling"):
            yield drawn.draw_amdahl(performance.scaling(facts), performance.scaling_records(facts),
                                    root / figure_file("scaling"))
        if self.limits.get("cluster"):
            yield drawn.draw_ranks(
                cluster_tables.speedups(facts),
                cluster_tables.records(facts),
                root / figure_file("cluster"),
            )


def figure_file(name: str) -> Path:
    """Returns the path of a figure: a PNG for a picture of stars, otherwise an SVG with both
    themes."""
    return FIGURES / f"{name}.{'png' if name in PHOTOGRAPHS else 'svg'}"


def draw_timelines(paths: Sequence[Path], output: Path, facts: Facts) -> Path:
    from nbody_tools.figures.timeline import draw

    spans = [read_timeline(path) for path in paths]
    titles = [path.name.split(".")[0].replace("_", " ") for path in paths]
    return draw(spans, titles, output, record_of_timeline(paths[-1], spans[-1], facts))


def record_of_timeline(path: Path, spans: Sequence[Span], facts: Facts) -> Optional[Record]:
    """Returns the record of the run from records.jsonl in the same folder or, if there is none, the
    newest record of the same program with the same numbers of systems and devices."""
    name, devices = path.name.split(".")[0], len({span.device for span in spans})
    beside = path.parent / "records.jsonl"
    timed = read_records(beside) if beside.is_file() else []
    measured = sorted(facts.measured, key=lambda m: m.rank)
    for records in (timed, [m.record for m in measured]):
        fitting = [r for r in records if r.step == name and r.device_count == devices
                   and r.problem.systems == len({span.system for span in spans})]
        if fitting:
            return fitting[-1]
    return None


def timelines_there(wanted: dict[str, list[str]], root: Path) -> dict[str, list[Path]]:
    paths = {name: [root / TIMELINES / f"{run}.timeline.csv" for run in runs]
             for name, runs in wanted.items()}
    return {name: files for name, files in paths.items() if all(file.is_file() for file in files)}


def stale_figures(root: Path, figures: Figures) -> list[str]:
    known = (root / DRAWN_FROM).read_text(encoding="utf-8") if (root / DRAWN_FROM).exists() else ""
    problems = [f"{figure_file(name)}: is missing; run ./nbody report"
                for name in figures.names if not (root / figure_file(name)).is_file()]
    if known != figures.sources:
        problems.append(
            f"{DRAWN_FROM}: the figures were drawn from other records; run ./nbody report"
        )
    return problems


def run(options: argparse.Namespace) -> int:
    root = options.root.resolve()
    vocabulary = Vocabulary(root)
    facts = vocabulary.facts
    figures = Figures(
        measured_staircase(facts),
        facts.machine("gpu", "fp32_peak").number,
        timelines_there(facts.timelines, root),
        accuracy.force_errors(root / RESULTS),
        accuracy.disks(root / RESULTS),
        tree_page.tree_records(root / RESULTS),
        newest_measured(root / GALAXIES, check_measurement),
        newest_measured(root / RESULTS / "tree_peers", check_measurement),
        tree_page.peers_of(root / RESULTS),
        programs.records_of(root / RESULTS),
        programs.others_of(root / RESULTS),
        {**performance.drawn_from(facts), "cluster": cluster_tables.speedups(facts)},
        drawn_clouds(root),
        charts(root),
    )
    if not options.check:
        for path in figures.draw(root, facts):
            print(path.relative_to(root))
    result = Rendered(problems=stale_figures(root, figures))
    for template in (root / REPORT, root / REPORT_TABLES):
        rendered = update(template, root, words_for(template, vocabulary), write=not options.check)
        result.problems += rendered.problems
        result.missing += rendered.missing
        result.written += rendered.written
    return report_problems(result, options.verbose)
