"""The one command line of the tools: ./nbody COMMAND, or python3 -m nbody_tools COMMAND from tools/.

Exit codes: 0 all right; 1 it ran and something is wrong; 2 an argument or a file is wrong, in one line;
77 something that the command cannot do without is not on this machine.
"""

from __future__ import annotations

import os
import select
import sys
from importlib import import_module
from typing import Optional, Sequence

from nbody_tools.arguments import OneLineParser, ToolError, fail

# Maps a command to its module, which has its options (configure) and its action (run), and its help
# line.
COMMANDS = {
    "run": ("measure.run", "run the steps on the same input and print one table"),
    "measure": ("measure.measure", "check and time everything on a machine with a GPU"),
    "cluster": ("cluster.cluster", "run step 14 on several ranks, and what to expect of it"),
    "sweep": ("sweep.sweep", "measure the tables of the reports again, and every configuration"),
    "tune": ("measure.tune", "find the fastest shapes of steps 11 to 13 on this device"),
    "profile": ("measure.profile", "count what the kernels of a step do, with Nsight Compute"),
    "compare": ("compare.compare", "time our steps beside the programs of others"),
    "inspect": ("inspection.inspect", "what the kernels of a step do to memory, without a GPU"),
    "calibrate": ("inspection.calibrate", "renew docs/results/patterns/, behind the tables of inspect"),
    "take": ("take.take", "copy one step into a directory that builds anywhere"),
    "nightly": ("nightly.nightly", "run nightly tests within minutes, and say what is stale"),
    "lab": ("labs.working_folder", "leave a step cut open, to work on"),
    "grade": ("labs.grade", "grade what was made of a lab"),
    "plot": ("figures.plot", "draw records, orbits, states, densities, errors and diagnostics"),
    "timeline": ("figures.timeline", "draw and sum up what overlapped with what"),
    "animate": ("figures.animate", "make a film of snapshots"),
    "scenarios": ("figures.scenarios", "draw docs/figures/scenarios.png"),
    "course": ("course.course", "slides, and what a class gets"),
    "site": ("course.site", "build a searchable site of all documents"),
    "diagrams": ("diagrams.diagrams", "draw the diagrams of the documents"),
    "documents": ("documents.documents", "write the READMEs and other pages from their templates"),
    "report": ("documents.report", "write docs/report.md and draw its figures"),
    "validation": ("documents.validation", "write docs/validation.md from what the mutants came to"),
    "tour": ("tour.tour", "run everything once and leave a page to look at"),
    "solar-system": ("physics.solar_system", "distances from the ephemeris after one year and ten"),
    "orders": ("physics.orders", "draw errors against time step, integrator and precision"),
    "disk-halo": ("physics.disk_halo", "whether a galaxy stays what it is"),
}
HELP = "\n".join(["usage: ./nbody COMMAND [OPTION...]", "",
                  *(f"  {name:<13} {text}" for name, (_, text) in COMMANDS.items()), "",
                  "./nbody COMMAND --help says more. Exit codes: " + __doc__.split("Exit codes: ")[1]])


CLOSED = 141  # a shell's code for a program that SIGPIPE ended


def main(words: Optional[Sequence[str]] = None) -> int:
    """Ends silently if the reader of the output has seen enough: `./nbody ... | head`."""
    try:
        try:
            return run(words)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes the rest at exit
        return CLOSED


def is_output_closed() -> bool:
    poll = select.poll()
    poll.register(1, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def run(words: Optional[Sequence[str]]) -> int:
    command, *rest = (sys.argv[1:] if words is None else list(words)) or ["--help"]
    if command in ("help", "-h", "--help"):
        print(HELP.strip())
        return 0
    if command not in COMMANDS:
        fail(f"nbody: unknown command '{command}' (see ./nbody help); the tools are {', '.join(COMMANDS)}")
    try:
        module = import_module(f"nbody_tools.{COMMANDS[command][0]}")
        parser = OneLineParser(prog=f"nbody {command}", description=module.__doc__)
        module.configure(parser)
        return module.run(parser.parse_args(rest))
    except ModuleNotFoundError as missing:
        fail(f"nbody {command}: needs the Python module {missing.name} (Debian, Ubuntu: apt install "
             f"python3-{missing.name}, and run it with /usr/bin/python3)", code=1)
    except ToolError as error:
        fail(f"nbody {command}: {error}", error.code)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and is_output_closed():
            raise
        fail(f"nbody {command}: {error}", code=1)
    except KeyboardInterrupt:
        fail(f"nbody {command}: interrupted", code=130)


if __name__ == "__main__":
    sys.exit(main())
