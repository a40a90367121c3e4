#!/usr/bin/env python3
"""Draws figures from result records and from the body files that the programs write.

  tools/plot.py performance docs/results/some_machine.jsonl --output docs/figures
  tools/plot.py orbits FOLDER_OF_SNAPSHOTS --output orbits.png
  tools/plot.py density before.bin after.bin --output galaxies.png --systems 2
  tools/plot.py activity activity_map.csv --output map.png
  tools/plot.py diagnostics run.csv --output run.png
  tools/plot.py radii run.csv --output radii.png

Exit code: 0 drawn, 2 an argument or a file is wrong (emulated times are no performance), in one
line, 1 numpy or matplotlib is missing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Optional, Sequence

import nbody_arguments as arguments
from nbody_arguments import ToolError

try:
    import figures_activity
    import figures_density
    import figures_diagnostics
    import figures_orbits
    import figures_performance
except ModuleNotFoundError as missing:
    arguments.fail(f"plot.py: needs the Python module {missing.name} (Debian, Ubuntu: apt install "
                   f"python3-{missing.name}, and run it with /usr/bin/python3)", code=1)
from nbody_diagnostics import read_activity, read_diagnostics
from nbody_figures import run_note
from nbody_files import SPECIES, read_bodies, read_snapshots
from nbody_records import check_measurement, read_records
from nbody_staircase import read_staircase

ENDINGS = ("png", "svg", "pdf")


def parser() -> arguments.OneLineParser:
    p = arguments.OneLineParser(prog="plot.py", description=__doc__)
    kinds = p.add_subparsers(dest="kind", required=True,
                             metavar="performance|orbits|density|activity|diagnostics|radii")

    performance = kinds.add_parser("performance", help="time, throughput and speedup of the steps")
    performance.add_argument("records", nargs="+", type=arguments.existing_file,
                             help="files of records, one machine each")
    performance.add_argument("--output", type=Path, required=True, metavar="FOLDER",
                             help="with several files, each gets a folder of its name in it")
    performance.add_argument("--format", choices=ENDINGS, default="png")
    performance.add_argument("--separate", action="store_true",
                             help="time, throughput and speedup of a step in files of their own")
    performance.set_defaults(draw=draw_performance)

    orbits = kinds.add_parser("orbits", help="paths of a few bodies")
    orbits.add_argument("snapshots", type=arguments.existing_folder, metavar="FOLDER")
    orbits.add_argument("--output", type=figure_file, required=True, metavar="FILE")
    add_record_option(orbits)
    orbits.set_defaults(draw=draw_orbits)

    density = kinds.add_parser("density", help="surface density before and after")
    density.add_argument("before", type=arguments.existing_file)
    density.add_argument("after", type=arguments.existing_file)
    density.add_argument("--output", type=figure_file, required=True, metavar="FILE")
    density.add_argument("--view", choices=sorted(figures_density.AXES), default="xy")
    density.add_argument("--systems", type=arguments.positive_integer,
                         default=figures_density.MOST_SYSTEMS,
                         help=f"how many to show [{figures_density.MOST_SYSTEMS}, also the most]")
    density.add_argument("--species", choices=SPECIES, help="of the bodies to show [all]")
    add_record_option(density)
    density.set_defaults(draw=draw_density)

    activity = kinds.add_parser("activity", help="where the bodies were (--activity-map)")
    activity.add_argument("map", type=arguments.existing_file, metavar="FILE.csv")
    activity.add_argument("--output", type=figure_file, required=True, metavar="FILE")
    add_record_option(activity)
    activity.set_defaults(draw=draw_activity)

    for kind, draw, text in (
            ("diagnostics", figures_diagnostics.draw_diagnostics,
             "energy, virial ratio, momenta and radii over time (--diagnostics)"),
            ("radii", figures_diagnostics.draw_radii, "Lagrangian radii over time (--diagnostics)")):
        over_time = kinds.add_parser(kind, help=text)
        over_time.add_argument("diagnostics", type=arguments.existing_file, metavar="FILE.csv")
        over_time.add_argument("--output", type=figure_file, required=True, metavar="FILE")
        over_time.add_argument("--system", type=arguments.positive_integer, default=1,
                               help="which to draw, counted from 1 [1]")
        add_record_option(over_time)
        over_time.set_defaults(draw=draw_over_time, draw_table=draw)
    return p


def add_record_option(p: argparse.ArgumentParser) -> None:
    p.add_argument("--record", type=arguments.existing_file, metavar="FILE",
                   help="result record of the run (its --json): the caption names step, machine, date")


def figure_file(text: str) -> Path:
    path = Path(text)
    if path.suffix[1:] not in ENDINGS:
        raise argparse.ArgumentTypeError(f"'{text}' does not end in .{', .'.join(ENDINGS)}")
    return path


def draw_performance(options: argparse.Namespace) -> list[Path]:
    # All are read before the first is drawn: a file that is refused leaves nothing half done.
    found = [(source, read_staircase(source)) for source in options.records]
    several = len(found) > 1
    return [path for source, staircase in found
            for path in figures_performance.draw_all(
                staircase, options.output / source.stem if several else options.output,
                options.format, options.separate)]


def draw_orbits(options: argparse.Namespace) -> list[Path]:
    return [figures_orbits.draw_orbits(read_snapshots(options.snapshots), options.output,
                                       note_from(options))]


def draw_density(options: argparse.Namespace) -> list[Path]:
    before, after = (read_bodies(file) for file in (options.before, options.after))
    note = note_from(options)
    if options.species:
        before, after = before.only(options.species), after.only(options.species)
        note = f"Only the species {options.species}. {note}".strip()
    return [figures_density.draw_densities(before, after, options.output, options.view,
                                           options.systems, note)]


def draw_activity(options: argparse.Namespace) -> list[Path]:
    return [figures_activity.draw_activity(read_activity(options.map), options.output,
                                           note_from(options))]


def draw_over_time(options: argparse.Namespace) -> list[Path]:
    return [options.draw_table(read_diagnostics(options.diagnostics), options.output,
                               options.system - 1, note_from(options))]


def note_from(options: argparse.Namespace) -> str:
    return run_note(read_records(options.record, check_measurement)[-1]) if options.record else ""


def main(words: Optional[Sequence[str]] = None) -> int:
    p = parser()
    options = p.parse_args(words)
    try:
        for path in options.draw(options):
            print(path)
    except ToolError as error:
        arguments.fail(f"{p.prog}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
