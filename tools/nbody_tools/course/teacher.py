"""Makes assignments for a class, with a different variant for each student, and looks for copies
among the submissions.

  ./nbody course teacher list                          lists the families of assignments
  ./nbody course teacher make STUDENTS --seed TEXT     writes build/course/assignments/:
      students/NAME/FAMILY/   what a student gets: statement, starter, header and assignment.toml
      teacher/FAMILY.csv      who has which variant; ./nbody grade reads it
      teacher/FAMILY/NAME/    reference of the student's variant
  ./nbody course teacher make STUDENTS --seed TEXT --family reduction --choose method=tree
                                       the same, but only with variants that have this value
  ./nbody course teacher compare FOLDER                compares submissions with one another, with
      the references of all variants, and with the code of this repository

STUDENTS is a file with one student per line, or a roster of Canvas or Moodle. A student's further
names, under which submissions may come, follow after semicolons (Ada Lovelace; lovelace_ada;
ada@x.org); from a roster, `make` takes them itself. They are in the column `names` of
teacher/FAMILY.csv, which you can edit. The seed and a student's main name select the variant, so a
student who joins later does not change the variants of the others. Keep the seed secret from the
class, because whoever knows the seed can work out the variants of others.

`compare` needs copydetect (pip install copydetect). course/assignments/README.md describes these
assignments.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from nbody_tools.arguments import ROOT, Failed, ToolError, existing_file
from nbody_tools.assignments import similarity
from nbody_tools.assignments.family import (DESCRIPTION, FAMILIES, FILE_NAME, HEADER_NAME,
                                            NAMES_COLUMN, Family, Variant, families, find_family,
                                            split_names)
from nbody_tools.gradebook.class_grading import (CANVAS_COLUMNS, MOODLE_COLUMNS, POSSIBLE, as_csv,
                                            canvas_names, file_name, moodle_names, read_roster)
from nbody_tools.tables import aligned

NAMES = ("SIS Login ID", "ID", "Username", "ID number", "Email address")


def configure(p: argparse.ArgumentParser) -> None:
    tasks = p.add_subparsers(dest="task", required=True, metavar="list|make|compare")
    tasks.add_parser("list", allow_abbrev=False)
    make = tasks.add_parser("make", allow_abbrev=False)
    make.add_argument("students", metavar="STUDENTS", type=existing_file,
                      help="one student per line, or a roster of Canvas or Moodle")
    make.add_argument("--seed", required=True, metavar="TEXT", help="a word that the class does "
                      "not know; this word and a student's name select the variant")
    make.add_argument("--family", choices=FAMILIES, action="append",
                      help="a family to make [all of them]; may be repeated")
    make.add_argument("--choose", metavar="AXIS=VALUE", action="append", default=[], type=choice,
                      help="make only variants with this value, such as method=shuffle; may be "
                      "repeated; if every axis is set, all students get the same variant")
    make.add_argument("--output", type=Path, default=ROOT / "build" / "course" / "assignments",
                      metavar="DIR", help="[build/course/assignments]")
    similarity.configure(tasks.add_parser("compare", allow_abbrev=False))


def run(options: argparse.Namespace) -> int:
    if options.task == "compare":
        return similarity.run(options)
    if options.task == "list":
        rows = [["assignment", "title", "variants", "differ in"]]
        rows += [[one.name, one.title, str(len(one.variants)), ", ".join(one.axes)]
                 for one in families()]
        print("\n".join(aligned(rows, left=(0, 1, 3))))
        return 0
    chosen = [chosen_variants(find_family(name), options.choose)
              for name in options.family or FAMILIES]
    students = students_in(options.students)
    if options.output.exists() and any(options.output.iterdir()):
        raise Failed(f"{options.output}: is not empty; choose another folder with --output")
    for family, variants in chosen:
        write_family(family, variants, students, options.seed, options.output)
    each = f"{len(chosen)} assignment{'s' if len(chosen) > 1 else ''} each"
    print(f"{options.output}: {len(students)} students, {each}\nNext: give each student the folder "
          "students/NAME in it. When they have submitted: ./nbody grade "
          f"{options.output}/teacher/FAMILY.csv submissions/ --csv points.csv")
    return 0


def choice(text: str) -> tuple[str, str]:
    axis, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"'{text}' must be AXIS=VALUE, such as method=shuffle")
    return axis, value


def chosen_variants(family: Family, choices: list[tuple[str, str]]
                    ) -> tuple[Family, list[Variant]]:
    """Returns the family and its variants that have all the chosen values."""
    for axis, value in choices:
        if value not in family.axes.get(axis, ()):
            known = "; ".join(f"{name}={'|'.join(values)}" for name, values in family.axes.items())
            raise ToolError(f"--choose {axis}={value}: {family.name} has {known}; select the "
                            "family with --family")
    found = [one for one in family.variants
             if all(one.choice[axis] == value for axis, value in choices)]
    if not found:
        raise ToolError(f"{family.name} has no variant with "
                        + ", ".join("=".join(one) for one in choices))
    return family, found


def students_in(file: Path) -> dict[str, tuple[str, ...]]:
    """Returns the main name of each student in a list or in a roster, with the further names.
    Raises ToolError if a name occurs twice."""
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    head = lines[0].split(",") if lines else []
    if {name.strip('"') for name in head} & {*CANVAS_COLUMNS, *MOODLE_COLUMNS}:
        students = students_of_roster(read_roster(file))
    else:
        students = [split_names(line) for line in lines if line.strip()]
    if not students or not all(students):
        raise ToolError(f"{file}: contains no students, or has a row without a login, number "
                        "or address")
    names = Counter(name for one in students for name in one)
    folders = Counter(file_name(one[0]) for one in students)
    for one in students:
        if twice := next((name for name in one if names[name] > 1
                          or folders[file_name(one[0])] > 1), None):
            raise ToolError(f"{file}: contains {twice} twice")
    return {name: tuple(others) for name, *others in students}


def students_of_roster(roster: list[dict[str, str]]) -> list[list[str]]:
    """Returns the names of each student, of which the login, number or address comes first. Leaves
    out a further name that two students share."""
    students = []
    for row in roster:
        if row.get("Student", "").strip() != POSSIBLE:
            first = next((row[name] for name in NAMES if row.get(name)), "")
            known = [first, *canvas_names(row), *moodle_names(row)]
            students.append([name for name in dict.fromkeys(known) if name] if first else [])
    count = Counter(name for one in students for name in one)
    return [one[:1] + [name for name in one[1:] if count[name] == 1 and ";" not in name]
            for one in students]


def write_family(family: Family, among: list[Variant], students: dict[str, tuple[str, ...]],
                 seed: str, output: Path) -> None:
    variants = {student: family.variant_of(student, seed, among) for student in students}
    for student, variant in variants.items():
        write_pack(variant, output / "students" / file_name(student) / family.name)
        folder = output / "teacher" / family.name / file_name(student)
        folder.mkdir(parents=True)
        (folder / "reference.cu").write_text(variant.reference, encoding="utf-8")
    table = [["student", "family", *family.axes, NAMES_COLUMN]]
    table += [[student, family.name, *variant.choice.values(), ";".join(students[student])]
              for student, variant in variants.items()]
    (output / "teacher" / f"{family.name}.csv").write_text(as_csv(table), encoding="utf-8")


def pack_of(variant: Variant) -> dict[str, str]:
    """Returns the files that a student gets."""
    return {"README.md": variant.statement, FILE_NAME: variant.starter,
            HEADER_NAME: variant.header, DESCRIPTION: variant.description}


def write_pack(variant: Variant, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, text in pack_of(variant).items():
        (folder / name).write_text(text, encoding="utf-8")
