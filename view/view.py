#!/usr/bin/env python3
"""Shows a run or files of bodies in a browser, or writes a page that plays by itself
(docs/view.md).

  ./nbody view [--step STEP] [--port P] [OPTION OF A STEP...]
      runs a step and shows it while it runs, until --steps or Ctrl-C
  ./nbody view --stairs [STEP,STEP...] [--port P] [OPTION OF THE BODIES...]
      simulates the same bodies with one step after another; buttons on the page switch the step
  ./nbody view FILE... [--port P]
      shows files of bodies, one after the other
  ./nbody view FILE... --export PAGE.html
  ./nbody view --export PAGE.html [--frames K] [--step STEP] --steps I [OPTION OF A STEP...]
      writes a page that plays without this program and without a network
"""
import argparse
import contextlib
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from nbody_tools.__main__ import silent_if_closed  # noqa: E402
from nbody_tools.arguments import OneLineParser, ToolError, positive_integer  # noqa: E402
from nbody_tools.measure.run import SCENARIOS  # noqa: E402
from nbody_tools.steps import find_step, step_folders  # noqa: E402

import stairs  # noqa: E402

# Programs that are not steps, and where they are built.
CPU_PROGRAMS = {"cpu_simd": "cpu/simd", "cpu_tree": "cpu/tree"}
# With at least this many bodies, a tree is the fastest program. Only ./nbody knows whether there is
# a GPU, so default_step() returns a placeholder, which ./nbody replaces with a program.
MANY, MANY_FOR_A_GPU = 10_000, 250_000
STEPS = [*step_folders(ROOT), *CPU_PROGRAMS]


def page(text):
    if Path(text).suffix not in (".html", ".htm"):
        raise argparse.ArgumentTypeError(f"'{text}' does not end in .html; ./nbody plot draws "
                                         "pictures, and ./nbody animate makes animations")
    return Path(text)


def make_parser():
    parser = OneLineParser(prog="nbody view", description=__doc__, usage="./nbody view ...")
    parser.add_argument(
        "--step",
        metavar="STEP",
        help="a step by name or number, cpu_simd or cpu_tree [with a GPU, step10_tiled2d_cublas, "
        f"and step15_barnes_hut from {MANY_FOR_A_GPU:,} bodies; without one, cpu_simd, and "
        f"cpu_tree from {MANY:,} bodies, or step 00 if Highway is missing]",
    )
    parser.add_argument("--stairs", nargs="?", const=stairs.DEFAULT, metavar="STEP,STEP...",
                        help=f"steps to switch between [{stairs.DEFAULT}]")
    parser.add_argument("--port", default="8765", metavar="P", help="port; 0: any free port [8765]")
    parser.add_argument("--export", type=page, metavar="PAGE.html")
    parser.add_argument("--frames", type=positive_integer, default=120, metavar="K",
                        help="frames of an exported run [120]")
    # ./nbody calls this program with --plan, builds, and calls it again with --build.
    parser.add_argument("--plan", action="store_true",
                        help="only print the targets that must be built")
    parser.add_argument("--build", type=Path, metavar="FOLDER",
                        help="folder with the built programs")
    return parser


def parse(words):
    """Returns the viewer's own options, and the remaining words: files, or options of a step."""
    parser = make_parser()
    options, rest = parser.parse_known_args(words)
    options.shows_files = bool(rest) and not rest[0].startswith("-")
    try:
        options.step = options.step and find_step(options.step, STEPS)
        options.stairs = (
            [find_step(word, STEPS) for word in options.stairs.split(",")] if options.stairs else []
        )
    except ToolError as error:
        parser.error(str(error))
    if options.stairs:
        if options.shows_files or options.export:
            parser.error("--stairs runs steps, so it cannot be used with files or --export")
        if why := stairs.refusal(rest):
            parser.error(why)
    if why := wrong_input(rest):
        parser.error(why)
    if any(word.startswith("--view") for word in rest):
        parser.error("use --port instead of --view, which is an option of the steps")
    if options.export and not options.shows_files:
        if any(word.startswith("--snapshot-") for word in rest):
            parser.error(
                "--snapshot-... cannot be used with --export, which writes its own snapshots"
            )
        count = dict(zip(rest, rest[1:])).get("--steps", "")
        if not (count.isascii() and count.isdigit() and 0 < int(count) < 10**9):
            parser.error("--export of a run needs --steps: a whole number from 1")
        options.snapshot_every = -(-int(count) // options.frames)
    return options, rest


def wrong_input(words):
    """Returns a message if the files or the options for bodies are wrong, so that ./nbody builds
    nothing for a command that must fail. Otherwise returns None. The programs check the other
    options."""
    for word in itertools.takewhile(lambda word: not word.startswith("-"), words):
        if not Path(word).exists():
            return f"there is no file '{word}'"
    values = dict(zip(words, words[1:]))
    scenario = values.get("--scenario", SCENARIOS[0])
    if scenario not in SCENARIOS:
        known = ", ".join(SCENARIOS)
        return f"argument --scenario: invalid choice: '{scenario}' (choose from {known})"
    for name in ("--systems", "--bodies"):
        try:
            positive_integer(values.get(name, "1"))
        except argparse.ArgumentTypeError as error:
            return f"argument {name}: {error}"
    return None


def default_step(words):
    """Returns a placeholder, which ./nbody replaces with the best program for these bodies."""
    bodies = positive_integer(dict(zip(words, words[1:])).get("--bodies", "1"))
    if bodies >= MANY_FOR_A_GPU:
        return "DEFAULT_TREE"
    return "DEFAULT_MANY" if bodies >= MANY else "DEFAULT"


def targets(options, rest):
    """Returns the targets that must be built."""
    if options.stairs:
        return ["nbody-stairs", *options.stairs]
    if options.shows_files:
        return ["nbody-view"]
    return ["nbody-view", options.step or default_step(rest)]


def program(build, step):
    return build / CPU_PROGRAMS.get(step, step) / step


def export_run(step, view, options, rest):
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run([step, *rest, "--snapshot-every", str(options.snapshot_every),
                                "--snapshot-dir", folder], check=False)
        if ended.returncode == 0:
            ended = subprocess.run([view, *sorted(Path(folder).glob("snapshot_*.bin")),
                                    "--export", options.export], check=False)
    return ended.returncode


def main(words):
    with contextlib.redirect_stdout(sys.stderr) if "--plan" in words else contextlib.nullcontext():
        options, rest = parse(words)
    if options.plan:
        print(*targets(options, rest))
        return 0
    # The browser and the thread that computes energies also need the cores, so idle OpenMP threads
    # must not spin.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    view = options.build / "view" / "nbody-view"
    if options.stairs:
        programs = [program(options.build, step) for step in options.stairs]
        return stairs.run(options.build, programs, options.port, rest)
    step = program(options.build, options.step)
    if options.shows_files:
        rest += ["--export", options.export] if options.export else ["--port", options.port]
        os.execv(view, [view, *rest])
    if options.export:
        return export_run(step, view, options, rest)
    os.execv(step, [step, *rest, "--view", options.port])


if __name__ == "__main__":
    sys.exit(silent_if_closed(lambda: main(sys.argv[1:])))
