"""Draws figures from result records and from the body files that the programs write.

  ./nbody plot performance docs/results/2026-11-21_h200.jsonl --problem 32x8192x20 --output build
  ./nbody plot orbits FOLDER_OF_SNAPSHOTS --output orbits.png
  ./nbody plot density before.bin after.bin --output galaxies.png --systems 2
  ./nbody plot activity activity_map.csv --output map.png
  ./nbody plot diagnostics run.csv --output run.png
  ./nbody plot radii run.csv --output radii.png
  ./nbody plot energies euler.csv leapfrog.csv --output energies.png
  ./nbody plot states a.bin b.bin c.bin d.bin --species disk --output collision.png
  ./nbody plot profile start.bin end.bin --theory plummer --output profile.png
  ./nbody plot convergence reference.bin ends/*.bin --output convergence.png

Body files may be in any format that nbody-convert reads, if nbody-convert is built.

Exit code: 0 success; 1 numpy or matplotlib is missing; 2 an argument or a file is wrong, or a
record's times were emulated (one-line message).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Callable

from nbody_tools.activity.figures import draw_activity
from nbody_tools.arguments import (
    FIGURE_ENDINGS,
    ToolError,
    existing_file,
    existing_folder,
    figure_file,
    positive_integer,
    positive_number,
)
from nbody_tools.figures import performance
from nbody_tools.figures.convergence import draw_convergence
from nbody_tools.figures.density import AXES, MAX_SYSTEMS, draw_densities
from nbody_tools.figures.diagnostics import draw_diagnostics, draw_energies, draw_radii
from nbody_tools.figures.orbits import draw_orbits
from nbody_tools.figures.profile import MODELS, draw_profile
from nbody_tools.figures.states import MAX_STATES, draw_states
from nbody_tools.figures.style import run_note
from nbody_tools.files.bodies import read_bodies, read_snapshots, species_list
from nbody_tools.files.diagnostics import read_activity, read_diagnostics
from nbody_tools.records.record import check_measurement, read_records
from nbody_tools.records.staircase import read_staircase


def configure(p: argparse.ArgumentParser) -> None:
    kinds = p.add_subparsers(dest="kind", required=True,
                             metavar="performance|orbits|density|states|profile|convergence|"
                                     "activity|diagnostics|radii|energies")

    def picture(
        name: str, text: str, draw: Callable[[argparse.Namespace, str], Path]
    ) -> argparse.ArgumentParser:
        kind = kinds.add_parser(name, help=text)
        kind.add_argument("--output", type=figure_file, required=True, metavar="FILE")
        kind.add_argument("--record", type=existing_file, metavar="FILE",
                          help="record that the run wrote with --json; the caption then states "
                          "the run's step, machine and date")
        kind.set_defaults(draw=lambda options: [draw(options, note_from(options))])
        return kind

    times = kinds.add_parser("performance", help="time, throughput and speedup of the steps")
    times.add_argument("records", nargs="+", type=existing_file,
                       help="files of records, each from one machine")
    times.add_argument("--output", type=Path, required=True, metavar="FOLDER",
                       help="folder for the figures; several files get one subfolder each")
    times.add_argument(
        "--problem",
        default="",
        metavar="SxNxI",
        help="problem to draw if a file has several: systems x bodies x steps, such as 32x8192x20",
    )
    times.add_argument("--format", choices=FIGURE_ENDINGS, default="png")
    times.add_argument("--separate", action="store_true",
                       help="draw time, throughput and speedup of a step in separate files")
    times.set_defaults(draw=draw_performance)

    picture("orbits", "paths of a few bodies", lambda options, note: draw_orbits(
        read_snapshots(options.snapshots), options.output, note)).add_argument(
            "snapshots", type=existing_folder, metavar="FOLDER")

    density = picture("density", "surface density before and after a run", draw_density)
    density.add_argument("before", type=existing_file)
    density.add_argument("after", type=existing_file)
    density.add_argument("--view", choices=sorted(AXES), default="xy")
    density.add_argument("--systems", type=positive_integer, default=MAX_SYSTEMS,
                         help=f"number of systems to show [{MAX_SYSTEMS}, also the maximum]")
    density.add_argument("--species", type=species_list, metavar="LIST",
                         help="species of the bodies to show: disk,star [all]")

    states = picture("states", "the bodies themselves, at several times", draw_several)
    states.add_argument("states", nargs="+", type=existing_file, metavar="FILE")
    states.add_argument("--view", choices=sorted(AXES), default="xy")
    states.add_argument("--species", type=species_list, metavar="LIST",
                        help="species of the bodies to show: disk,star [all]")
    states.add_argument("--half-width", type=positive_number, metavar="X",
                        help="half width of a panel [wide enough for 99.8 %% of the bodies]")

    profile = picture("profile", "density compared with theory", lambda options, note: draw_profile(
        [read_bodies(file) for file in options.states], options.output, options.theory, note))
    profile.add_argument("states", nargs="+", type=existing_file, metavar="FILE")
    profile.add_argument("--theory", choices=sorted(MODELS), default="plummer")

    convergence = picture(
        "convergence",
        "error against time step",
        lambda options, note: draw_convergence(
            read_bodies(options.reference),
            [read_bodies(file) for file in options.states],
            options.output,
            note,
        ),
    )
    convergence.add_argument("reference", type=existing_file,
                             help="final state of a much more accurate run")
    convergence.add_argument("states", nargs="+", type=existing_file, metavar="FILE",
                             help="final states of runs with other dt")

    energies = picture("energies", "energy errors of several runs (--diagnostics)",
                       draw_several_energies)
    energies.add_argument("diagnostics", nargs="+", type=existing_file, metavar="FILE.csv")

    picture(
        "activity",
        "share of all positions in each cell (--activity-map)",
        lambda options, note: draw_activity(read_activity(options.map), options.output, note),
    ).add_argument("map", type=existing_file, metavar="FILE.csv")

    for name, draw, text in (
            ("diagnostics", draw_diagnostics,
             "energy, virial ratio, momenta and radii over time (--diagnostics)"),
            ("radii", draw_radii, "Lagrangian radii over time (--diagnostics)")):
        over_time = picture(name, text, of_diagnostics(draw))
        over_time.add_argument("diagnostics", type=existing_file, metavar="FILE.csv")
        over_time.add_argument("--system", type=positive_integer, default=1,
                               help="number of the system to draw [1]")


def of_diagnostics(draw: Callable[..., Path]) -> Callable[[argparse.Namespace, str], Path]:
    def drawn(options: argparse.Namespace, note: str) -> Path:
        table = read_diagnostics(options.diagnostics)
        return draw(table, options.output, options.system - 1, note)

    return drawn


def draw_performance(options: argparse.Namespace) -> list[Path]:
    stems = [source.stem for source in options.records]
    for stem in stems:
        if stems.count(stem) > 1:
            raise ToolError(f"two files are called {stem}, which would be the name of the "
                            "subfolder of both; draw them one by one")
    # Reads all files before drawing, so that an invalid file leaves no partial result.
    sources = [(source, read_staircase(source, options.problem)) for source in options.records]
    return [path for source, staircase in sources for path in performance.draw_all(
        staircase, options.output / source.stem if len(sources) > 1 else options.output,
        options.format, options.separate)]


def draw_density(options: argparse.Namespace, note: str) -> Path:
    before, after = (read_bodies(file) for file in (options.before, options.after))
    if options.species:
        before, after = before.only(options.species), after.only(options.species)
        note = f"Only the species {', '.join(options.species)}. {note}".strip()
    return draw_densities(before, after, options.output, options.view, options.systems, note)


def draw_several_energies(options: argparse.Namespace, note: str) -> Path:
    """Labels a run with the name of its file, or with the path if two files have the same name."""
    stems = [file.stem for file in options.diagnostics]
    tables = {file.stem if stems.count(file.stem) == 1 else str(file): read_diagnostics(file)
              for file in options.diagnostics}
    return draw_energies(tables, options.output, note=note)


def draw_several(options: argparse.Namespace, note: str) -> Path:
    if len(options.states) > MAX_STATES:
        raise ToolError(f"{len(options.states)} files, but at most {MAX_STATES} fit into a picture")
    states = [read_bodies(file) for file in options.states]
    if options.species:
        states = [state.only(options.species) for state in states]
    return draw_states(states, options.output, options.view, options.half_width, note)


def note_from(options: argparse.Namespace) -> str:
    return run_note(read_records(options.record, check_measurement)[-1]) if options.record else ""


def run(options: argparse.Namespace) -> int:
    for path in options.draw(options):
        print(path)
    return 0
