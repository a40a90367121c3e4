"""Draws figures from result records and from the body files that the programs write.

  ./nbody plot performance docs/results/some_machine.jsonl --output docs/figures
  ./nbody plot orbits FOLDER_OF_SNAPSHOTS --output orbits.png
  ./nbody plot density before.bin after.bin --output galaxies.png --systems 2
  ./nbody plot activity activity_map.csv --output map.png
  ./nbody plot diagnostics run.csv --output run.png
  ./nbody plot radii run.csv --output radii.png

Exit code: 0 drawn, 2 an argument or a file is wrong (emulated times are no performance), in one
line, 1 numpy or matplotlib is missing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nbody_tools import arguments
from nbody_tools.figures import activity, diagnostics, orbits, performance
from nbody_tools.figures.density import AXES, MAX_SYSTEMS, draw_densities
from nbody_tools.files.diagnostics import read_activity, read_diagnostics
from nbody_tools.figures.style import run_note
from nbody_tools.files.bodies import SPECIES, read_bodies, read_snapshots
from nbody_tools.records.record import check_measurement, read_records
from nbody_tools.records.staircase import read_staircase

ENDINGS = ("png", "svg", "pdf")


def configure(p: argparse.ArgumentParser) -> None:
    kinds = p.add_subparsers(dest="kind", required=True,
                             metavar="performance|orbits|density|activity|diagnostics|radii")

    times = kinds.add_parser("performance", help="time, throughput and speedup of the steps")
    times.add_argument("records", nargs="+", type=arguments.existing_file,
                             help="files of records, one machine each")
    times.add_argument("--output", type=Path, required=True, metavar="FOLDER",
                             help="with several files, each gets a folder of its name in it")
    times.add_argument("--format", choices=ENDINGS, default="png")
    times.add_argument("--separate", action="store_true",
                             help="time, throughput and speedup of a step in files of their own")
    times.set_defaults(draw=draw_performance)

    paths = kinds.add_parser("orbits", help="paths of a few bodies")
    paths.add_argument("snapshots", type=arguments.existing_folder, metavar="FOLDER")
    paths.add_argument("--output", type=figure_file, required=True, metavar="FILE")
    add_record_option(paths)
    paths.set_defaults(draw=draw_orbits)

    density = kinds.add_parser("density", help="surface density before and after")
    density.add_argument("before", type=arguments.existing_file)
    density.add_argument("after", type=arguments.existing_file)
    density.add_argument("--output", type=figure_file, required=True, metavar="FILE")
    density.add_argument("--view", choices=sorted(AXES), default="xy")
    density.add_argument("--systems", type=arguments.positive_integer,
                         default=MAX_SYSTEMS,
                         help=f"how many to show [{MAX_SYSTEMS}, also the most]")
    density.add_argument("--species", choices=SPECIES, help="of the bodies to show [all]")
    add_record_option(density)
    density.set_defaults(draw=draw_density)

    where = kinds.add_parser("activity", help="where the bodies were (--activity-map)")
    where.add_argument("map", type=arguments.existing_file, metavar="FILE.csv")
    where.add_argument("--output", type=figure_file, required=True, metavar="FILE")
    add_record_option(where)
    where.set_defaults(draw=draw_activity)

    for kind, draw, text in (
            ("diagnostics", diagnostics.draw_diagnostics,
             "energy, virial ratio, momenta and radii over time (--diagnostics)"),
            ("radii", diagnostics.draw_radii, "Lagrangian radii over time (--diagnostics)")):
        over_time = kinds.add_parser(kind, help=text)
        over_time.add_argument("diagnostics", type=arguments.existing_file, metavar="FILE.csv")
        over_time.add_argument("--output", type=figure_file, required=True, metavar="FILE")
        over_time.add_argument("--system", type=arguments.positive_integer, default=1,
                               help="which to draw, counted from 1 [1]")
        add_record_option(over_time)
        over_time.set_defaults(draw=draw_over_time, draw_table=draw)


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
    sources = [(source, read_staircase(source)) for source in options.records]
    several = len(sources) > 1
    return [path for source, staircase in sources
            for path in performance.draw_all(
                staircase, options.output / source.stem if several else options.output,
                options.format, options.separate)]


def draw_orbits(options: argparse.Namespace) -> list[Path]:
    return [orbits.draw_orbits(read_snapshots(options.snapshots), options.output,
                                       note_from(options))]


def draw_density(options: argparse.Namespace) -> list[Path]:
    before, after = (read_bodies(file) for file in (options.before, options.after))
    note = note_from(options)
    if options.species:
        before, after = before.only(options.species), after.only(options.species)
        note = f"Only the species {options.species}. {note}".strip()
    return [draw_densities(before, after, options.output, options.view,
                                           options.systems, note)]


def draw_activity(options: argparse.Namespace) -> list[Path]:
    return [activity.draw_activity(read_activity(options.map), options.output,
                                           note_from(options))]


def draw_over_time(options: argparse.Namespace) -> list[Path]:
    return [options.draw_table(read_diagnostics(options.diagnostics), options.output,
                               options.system - 1, note_from(options))]


def note_from(options: argparse.Namespace) -> str:
    return run_note(read_records(options.record, check_measurement)[-1]) if options.record else ""


def run(options: argparse.Namespace) -> int:
    for path in options.draw(options):
        print(path)
    return 0
