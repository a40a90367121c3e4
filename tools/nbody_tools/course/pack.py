"""Makes the material for a class: the repository without the answers, the slides, and the archive
for Gradescope.

  ./nbody course pack                    writes build/course/class/ and build/course/gradescope.zip
  ./nbody course pack --output DIR       writes both to DIR
  ./nbody course pack --lab 03           also writes gradescope-lab03.zip, for this lab only
  ./nbody course pack --assignment TABLE.csv
                                         also writes gradescope-TABLE.zip, for this assignment

An archive for Gradescope also contains the repository, because Gradescope grades with
`./nbody grade`. For a lab, a submission is one file whose name begins with the lab's number, such
as 03.cu, 04b.cu or 23.toml. The archive of an assignment contains the table of variants that
`./nbody course teacher make` wrote; a submission is one .cu file.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import stat
import tarfile
import zipfile
from pathlib import Path
from typing import Iterator, Optional
from urllib.parse import unquote, urlsplit

from nbody_tools.arguments import ROOT, Failed, existing_file, existing_folder
from nbody_tools.assignments.family import read_variants
from nbody_tools.course import slides
from nbody_tools.course.site import LINK, tracked
from nbody_tools.labs.lab import ANSWERS as OF_A_LAB
from nbody_tools.labs.lab import Lab, find_lab

# Files that reveal answers, and files for teachers only.
# The class may read the steps, because the grader recognises copies of a step.
ANSWERS = ("docs/answers", "docs/errata", "course/answers/", "course/gradescope/",
           "course/teaching", "course/assignments/", "tests/answers/", "tests/assignments/")
# The tables of wrong answers, for tests, contain right ones, too. They end a lab's table.
WRONG_ANSWERS = re.compile(r"^\[\[wrong\]\]\n.*", re.M | re.S)
WORDS_ABOUT_ANSWERS = re.compile(
    r"^\[Answers\]\(.*\n\n?|The answers are in\s\[docs/answers\.md\]\(\S*\)\.|"
    r" \(\[answers\]\(docs/answers\.md\)\)",
    re.M,
)
VARIANTS = "variants.csv"  # in the archive of an assignment
LAB = "lab.txt"  # in the archive of one lab: its number
SCRIPTS = Path("course") / "gradescope"  # the archive contains these scripts for Gradescope


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--output",
        type=Path,
        default=ROOT / "build" / "course",
        metavar="DIR",
        help="[build/course]",
    )
    p.add_argument(
        "--assignment",
        type=existing_file,
        action="append",
        default=[],
        metavar="TABLE",
        help="also write an archive for the assignment with this table of variants (repeatable)",
    )
    p.add_argument(
        "--lab",
        action="append",
        default=[],
        help="also write an archive that grades only this lab (repeatable)",
    )
    p.add_argument(
        "--root", type=existing_folder, default=ROOT, metavar="DIR", help="root of the repository"
    )


def for_the_class(root: Path) -> Iterator[tuple[Path, bytes]]:
    """Yields each file for the class with its contents. Leaves out answers and links to them."""
    files = [
        file
        for file in tracked(root)
        if not str(file).startswith(ANSWERS)
        and file.name != OF_A_LAB
        and not file.name.endswith(".template.md")
    ]
    there = {*files, *(parent for file in files for parent in file.parents)}
    for file in files:
        content = (root / file).read_bytes()
        if file.suffix == ".md":
            text = WORDS_ABOUT_ANSWERS.sub("", content.decode("utf-8"))
            content = without_links_to_what_is_missing(text, file, there).encode("utf-8")
        elif file.name == "lab.toml" and (root / file.parent / OF_A_LAB).is_file():
            content = WRONG_ANSWERS.sub("", content.decode("utf-8")).encode("utf-8")
        yield file, content


def without_links_to_what_is_missing(text: str, page: Path, there: set[Path]) -> str:
    """Replaces a link with its text if the linked file is not in `there`."""
    def kept(match: re.Match) -> str:
        parts = urlsplit(match.group(2))
        target = Path(os.path.normpath(page.parent / unquote(parts.path)))
        if parts.scheme or not parts.path or target in there:
            return match.group(0)
        return match.group(1)[1:-2]

    return LINK.sub(kept, text)


def executable(root: Path, file: Path) -> bool:
    return bool((root / file).stat().st_mode & stat.S_IXUSR)


def write_class(root: Path, folder: Path) -> int:
    count = 0
    for file, content in for_the_class(root):
        there = folder / file
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
        there.chmod(0o755 if executable(root, file) else 0o644)
        count += 1
    slides.write(root, folder / "slides")
    return count


def tar_of(root: Path) -> bytes:
    """Returns a tar archive of the tracked files. The same files always give the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=6) as tar:
        for file in tracked(root):
            data = (root / file).read_bytes()
            info = tarfile.TarInfo(str(file))
            info.size, info.mode = len(data), 0o755 if executable(root, file) else 0o644
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def write_gradescope(root: Path, path: Path, table: Optional[Path] = None,
                     lab: Optional[Lab] = None) -> None:
    """Writes the archive for all labs, for one lab, or for the assignment with this table of
    variants."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("setup.sh", "run_autograder"):
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o755 << 16
            archive.writestr(info, (root / SCRIPTS / name).read_bytes())
        archive.writestr("nbody.tar.gz", tar_of(root))
        if table:
            archive.writestr(VARIANTS, table.read_bytes())
        if lab:
            archive.writestr(LAB, lab.number)


def run(options: argparse.Namespace) -> int:
    folder, archive = options.output / "class", options.output / "gradescope.zip"
    if folder.exists() and not (folder / "nbody").is_file():
        raise Failed(f"{folder}: exists and is not a class folder; choose another folder "
                     "with --output")
    for table in options.assignment:
        read_variants(table)  # an error must come before anything is written
    labs = [find_lab(number) for number in options.lab]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    root = options.root.resolve()
    count = write_class(root, folder)
    write_gradescope(root, archive)
    print(f"{folder}: {count} files, without {', '.join(ANSWERS)}; slides/\n{archive}")
    for table in options.assignment:
        of_table = options.output / f"gradescope-{table.stem}.zip"
        write_gradescope(root, of_table, table)
        print(of_table)
    for lab in labs:
        of_lab = options.output / f"gradescope-lab{lab.number}.zip"
        write_gradescope(root, of_lab, lab=lab)
        print(of_lab)
    return 0
