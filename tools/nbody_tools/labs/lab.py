"""Reads a lab from lab.toml and README.md in its folder, course/labs/NN_name. course/labs/README.md
describes both files.

A programming lab is a step with edits that remove code. The solution is the step itself, without
the comments in the removed code. A wrong solution is the solution with one more edit. Therefore no
code is stored twice, and if an edit no longer fits its step, every command that reads the lab
fails. The submission for a lab of questions is a file of keys and values.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Optional, Sequence

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.edits import EditError, edited, replaced
from nbody_tools.labs.cpp_text import comments_in, without_comments
from nbody_tools.steps import headers_of

try:
    import tomllib
except ImportError:
    raise ToolError(
        f"labs are read with tomllib, which Python has from 3.11 on; {sys.executable} is "
        f"{sys.version.split()[0]}"
    ) from None

FOLDER = ROOT / "course" / "labs"
ANSWERS = "answers.toml"  # the right answers to a lab's questions, and the file to fill in
# The tests of a program (tests.py), in order, with their weights.
TESTS = {
    "forces": 20,
    "sizes": 20,
    "systems": 10,
    "run": 10,
    "orders": 15,
    "findings": 15,
    "counts": 20,
    "time": 20,
}
# Minimum length of a comment that no student would write in the same words by chance.
FINGERPRINT = 25


class LabError(ToolError):
    """A mistake in the lab, not in a submission."""


@dataclass(frozen=True)
class Limit:
    """Limits for one count of an inspection (counts.py)."""
    of: str
    kernel: str = ""  # counts only kernels whose names contain this text
    at_most: Optional[float] = None
    at_least: Optional[float] = None
    must: bool = False  # if true, only a program within the limit gets points


@dataclass(frozen=True)
class Wrong:
    """A wrong solution, and why it is rejected."""
    name: str
    why: str
    fails: tuple[str, ...]
    says: str = ""  # part of the message that rejects the solution
    find: str = ""
    replace: str = ""
    points: tuple[float, float] = (0, 99)  # fewest and most points that the solution may get
    of: str = (
        "solution"  # the text to edit; "starter" imitates a student who changed too little
    )
    also: tuple[dict[str, str], ...] = ()  # further edits, with keys find and replace


@dataclass(frozen=True)
class Question:
    key: str
    text: str
    tolerance: float = 0.0  # relative tolerance, if the answer is a number
    points: float = 1.0
    mistakes: dict[str, str] = field(
        default_factory=dict
    )  # likely wrong answers, and the reply to each


@dataclass(frozen=True)
class Extra:
    """An additional run in a test, with environment variables for the emulator."""
    test: str
    systems: int
    bodies: int
    steps: int
    devices: int = 1
    environment: str = ""
    star: bool = (
        False  # if true, all masses but the first are below the last digit of the first mass
    )


@dataclass(frozen=True)
class Lab:
    folder: Path
    title: str
    minutes: int
    step: str = ""
    fails: tuple[str, ...] = ()
    boundaries: tuple[int, ...] = ()
    devices: int = 1
    starter_step: str = ""  # if given, the starter is this step, with no code removed
    environment: str = ""  # emulator's environment variables in every run
    # Memory limit of a submission. A lab with a cooperative grid needs a higher limit, because all
    # blocks of such a grid have their stacks in memory at the same time.
    megabytes: int = 1000
    inspected: tuple[int, int] = (961, 1023)  # fewest and most bodies in traced runs
    forbidden: tuple[str, ...] = ()  # patterns of names that README.md forbids
    without: tuple[str, ...] = ()  # parts of the step's text that the lab does not contain
    cut: tuple[tuple[str, str], ...] = ()
    limit: tuple[Limit, ...] = ()
    extra: tuple[Extra, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    question: tuple[Question, ...] = ()

    @property
    def number(self) -> str:
        return self.folder.name.partition("_")[0]

    @property
    def name(self) -> str:
        return f"lab{self.folder.name}"

    @property
    def is_program(self) -> bool:
        return bool(self.step)

    @property
    def file_name(self) -> str:
        return "nbody.cu" if self.is_program else ANSWERS

    @property
    def can_be_graded(self) -> bool:
        """False in the folder of a class, which lacks the right answers to questions."""
        return self.is_program or (self.folder / ANSWERS).is_file()

    @property
    def source(self) -> Path:
        return ROOT / self.step / "nbody.cu"

    @property
    def step_text(self) -> str:
        """Returns the step's source without the parts in `without`."""
        text = self.source.read_text(encoding="utf-8")
        for part in self.without:
            text = text.replace(part, "")
        return text

    @property
    def steps(self) -> tuple[str, ...]:
        """Returns the steps whose headers a submission may include."""
        return tuple(step for step in (self.step, self.starter_step) if step)

    @property
    def headers(self) -> tuple[Path, ...]:
        """Returns the headers of these steps that compilers may read. A header is omitted if its
        #include is in `without`."""
        removed = "".join(self.without)
        return tuple(header for step in self.steps for header in headers_of(step, ROOT)
                     if f"{header.parent.name}/{header.name}" not in removed)

    @property
    def is_tiled(self) -> bool:
        return "Summation::tiled" in self.step_text

    @property
    def starter(self) -> str:
        if not self.is_program:
            return "\n".join(f"# {line}" for line in self._heading()) + "\n\n" + "\n".join(
                f"{comment(question)}\n{question.key} = \"\"\n" for question in self.question)
        return self._with_heading(self._edited(self.cut, self.starter_step or self.step))

    def check_can_be_graded(self) -> None:
        """Raises LabError if this folder lacks the lab's right answers."""
        if not self.can_be_graded:
            raise LabError(f"lab {self.number} can be graded only by your teacher, because this "
                           f"folder lacks its right answers ({ANSWERS})")

    @property
    def solution(self) -> str:
        self.check_can_be_graded()
        if not self.is_program:
            return (self.folder / ANSWERS).read_text(encoding="utf-8")
        if self.starter_step:
            return self._with_heading(without_comments(self._edited((), self.step)))
        return self._with_heading(
            self._edited([(find, without_comments(find)) for find, _ in self.cut], self.step)
        )

    def wrong_text(self, wrong: Wrong) -> str:
        text = self.starter if wrong.of == "starter" else self.solution
        edits = [
            (wrong.find, wrong.replace),
            *((one["find"], one["replace"]) for one in wrong.also),
        ]
        try:
            return replaced(text, edits, f"lab {self.number}, {wrong.name}, {wrong.of}")
        except EditError as error:
            raise LabError(str(error)) from error

    @property
    def fingerprints(self) -> list[str]:
        """Returns the step's comments that no student has seen, because the starter does not
        contain them."""
        kept = set(comments_in(self.starter))
        return [text for text in comments_in(self.step_text)
                if len(text) >= FINGERPRINT and text not in kept]

    def _edited(self, edits: Sequence[tuple[str, str]], step: str) -> str:
        left_out = [(line, "") for line in self.without]
        try:
            return edited(ROOT / step / "nbody.cu", self.name, [*left_out, *edits])
        except EditError as error:
            raise LabError(str(error)) from error

    def _heading(self) -> list[str]:
        title = f"Lab {self.number}: {self.title}. README.md says what to do"
        if not self.can_be_graded:
            return [f"{title}."]
        return [f"{title};",
                f"`./nbody grade {self.number} {self.name}/{self.file_name}` shows your progress."]

    def _with_heading(self, text: str) -> str:
        """Replaces the step's own heading, because that heading summarises the answer."""
        body = re.sub(r"\A(//.*\n)+", "", text)
        return "".join(f"// {line}\n" for line in self._heading()) + body


def comment(question: Question) -> str:
    return "\n".join(f"# {line}" for line in question.text.strip().splitlines())


def made(kind: type, where: str, table: dict[str, Any]) -> Any:
    """Makes a dataclass from a TOML table. Raises LabError if a name is unknown or missing."""
    known = {one.name for one in fields(kind)}
    if unknown := table.keys() - known:
        raise LabError(f"{where}: {', '.join(sorted(unknown))} is not a key; choose from "
                       f"{', '.join(sorted(known))}")
    plain = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    try:
        return kind(**plain)
    except TypeError as error:
        raise LabError(f"{where}: {error}") from error


def read_lab(folder: Path) -> Lab:
    where = f"{folder.name}/lab.toml"
    try:
        table = tomllib.loads((folder / "lab.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise LabError(f"{where}: {error}") from error
    for key, kind in (("limit", Limit), ("extra", Extra), ("wrong", Wrong), ("question", Question)):
        table[key] = [
            made(kind, f"{where}, {key} {k + 1}", one) for k, one in enumerate(table.get(key, []))
        ]
    table["cut"] = [(one["find"], one["replace"]) for one in table.get("cut", [])]
    lab = made(Lab, where, table | {"folder": folder})
    known = [*TESTS] if lab.is_program else [question.key for question in lab.question]
    if "counts" in known and not lab.limit:
        known.remove("counts")
    for name in (*lab.fails, *(name for wrong in lab.wrong for name in wrong.fails)):
        if name not in known:
            without = " (counts needs a [[limit]])" if name == "counts" else ""
            raise LabError(
                f"{where}: '{name}' is not a test; choose from {', '.join(known)}{without}")
    return lab


def lab_folders() -> list[Path]:
    return sorted(file.parent for file in FOLDER.glob("[0-9]*_*/lab.toml"))


def find_lab(text: str) -> Lab:
    """Finds a lab by its number, 3 or 03, or by the name of its folder."""
    folders = lab_folders()
    number = text.zfill(3 if text[-1:].isalpha() else 2)
    for folder in folders:
        if text == folder.name or folder.name.startswith(f"{number}_"):
            return read_lab(folder)
    raise ToolError(
        f"'{text}' is not a lab; choose from {', '.join(folder.name for folder in folders)}"
    )
