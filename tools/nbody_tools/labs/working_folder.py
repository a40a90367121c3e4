"""Creates a working copy of a lab: a step without the code that its lesson is about.

  ./nbody lab list
  ./nbody lab 03 [--to FOLDER]

Creates FOLDER (by default the lab's name, in the current folder) with the file to work on and a
README.md that says what to do. ./nbody grade shows your progress. Existing files are never
overwritten.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nbody_tools.arguments import ToolError
from nbody_tools.labs.counts import describe
from nbody_tools.labs.lab import Lab, find_lab, lab_folders, read_lab
from nbody_tools.tables import aligned

MUST = " (the task itself: a program that breaks this limit gets no points)"


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("lab", metavar="LAB", help="number or name of the lab; list: print all labs")
    p.add_argument("--to", type=Path, metavar="FOLDER",
                   help="target folder [a new one with the lab's name]")


def run(options: argparse.Namespace) -> int:
    if options.lab == "list":
        if options.to:
            raise ToolError("list takes no --to")
        rows = [["lab", "title", "from", "minutes"]]
        rows += [
            [lab.number, lab.title, lab.step or "-", str(lab.minutes)]
            for lab in map(read_lab, lab_folders())
        ]
        print("\n".join(aligned(rows, left=(0, 1, 2))))
        return 0
    lab = find_lab(options.lab)
    folder = options.to or Path(lab.name)
    files = {lab.file_name: lab.starter, "README.md": readme(lab)}
    for name in files:
        if (folder / name).exists() or (folder / name).is_symlink():
            raise ToolError(f"{folder / name} already exists: nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with (folder / name).open("x", encoding="utf-8") as file:
            file.write(text)
    then = (f"./nbody grade {lab.number} {folder / lab.file_name}" if lab.can_be_graded else
            f"hand in {folder / lab.file_name}")
    print(f"{folder}: {', '.join(files)}\nNext: read {folder / 'README.md'}, then {then}")
    return 0


def readme(lab: Lab) -> str:
    """Combines the lab's README with text derived from lab.toml."""
    text = (lab.folder / "README.md").read_text(encoding="utf-8").rstrip()
    lines = [text, "", "## How it is graded", ""]
    if lab.can_be_graded:
        lines += [f"    ./nbody grade {lab.number} {lab.name}/{lab.file_name}    "
                  "# in the project's folder", ""]
    lines += tests_and_limits(lab)
    if lab.is_program:
        lines += ["", "To see accesses and mistakes line by line:", "",
                  f"    ./nbody grade {lab.number} {lab.name}/{lab.file_name} --inspect"]
    return "\n".join(lines) + "\n"


def tests_and_limits(lab: Lab) -> list[str]:
    """Returns the lines that tell a student which tests and limits of lab.toml give the points."""
    if not lab.is_program:
        return [f"{len(lab.question)} questions. Keep the keys; write numbers without units."]
    lines = [f"Your file compiles, but fails these tests: {', '.join(lab.fails)}. They give all "
             "the points; the other tests must still pass."]
    if lab.limit:
        lines += ["", "Limits on the counted quantities:", ""]
        lines += [f"- {describe(limit)}{MUST if limit.must else ''}" for limit in lab.limit]
    return lines
