"""Makes a teacher's material: slides, notebooks, and the folder and archive for a class.
course/teaching.md explains their use.

  ./nbody course slides [--output DIR]    writes a page per step, and Markdown for Marp
  ./nbody course pack [--output DIR]      makes a folder without answers for the class, and the
                                          archive for Gradescope
  ./nbody course notebooks [--execute]    converts course/notebooks to .ipynb
  ./nbody course nbgrader LAB             turns a lab into an nbgrader assignment
  ./nbody course teacher list|make|compare  makes each student's own assignments, and finds copies
"""

from __future__ import annotations

import argparse

from nbody_tools.course import nbgrader, notebooks, pack, slides, teacher

PARTS = {"slides": slides, "pack": pack, "notebooks": notebooks, "nbgrader": nbgrader,
         "teacher": teacher}


def configure(p: argparse.ArgumentParser) -> None:
    parts = p.add_subparsers(dest="part", required=True, metavar="|".join(PARTS))
    for name, module in PARTS.items():
        module.configure(parts.add_parser(name, description=module.__doc__, allow_abbrev=False))


def run(options: argparse.Namespace) -> int:
    return PARTS[options.part].run(options)
