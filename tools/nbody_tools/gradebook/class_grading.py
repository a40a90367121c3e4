"""Grades the submissions of a class in parallel, and writes their points as CSV for a gradebook.

A submission is a file named after its student, or the only file in a subfolder named after its
student. The names that Canvas and Moodle give to downloaded submissions also work:
`doejane_LATE_123_456_solution.cu` belongs to the user 123, and
`Jane Doe_456_assignsubmission_file` to Jane Doe.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterable, Optional, Sequence

from nbody_tools.arguments import Failed, ToolError, write_whole_file
from nbody_tools.labs.report import FULL
from nbody_tools.labs.submission import Refused, Unreadable, read_bytes

ENDINGS = (".cu", ".toml")
CANVAS_NAME = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_.+")
MOODLE_NAME = re.compile(r"(?P<name>.+)_\d+_assignsubmission_(?:file|onlinetext)(?:_.*)?")
CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE_COLUMNS = ("Username", "ID number", "Email address")
POSSIBLE = "Points Possible"  # the first cell of the second row in Canvas's export
FORMULA = ("=", "+", "-", "@", "\t")  # spreadsheets compute a cell that begins with one of these


@dataclass(frozen=True)
class Submission:
    student: str
    file: Path


@dataclass(frozen=True)
class Mark:
    """The points of a student. `score` is None if the grader itself failed."""
    student: str
    score: Optional[float]
    feedback: str
    seed: int = 0
    digest: str = ""


def student_of(name: str) -> str:
    if match := CANVAS_NAME.fullmatch(name):
        return match["id"]
    if match := MOODLE_NAME.fullmatch(name):
        return match["name"]
    return name


def submissions_in(folder: Path) -> list[Submission]:
    """Returns the submissions, sorted by student. Raises ToolError if a student has two
    submissions, or if the reports of two students would have the same name."""
    found: dict[str, Path] = {}
    of_report: dict[str, str] = {}
    for one in filter(None, map(submission_of, entries_of(folder))):
        if one.student in found:
            raise ToolError(f"{folder}: {found[one.student].name} and {one.file.name} both belong "
                            f"to {one.student}")
        other = of_report.setdefault(file_name(one.student), one.student)
        if other != one.student:
            raise ToolError(f"{folder}: the reports of {other} and {one.student} would have the "
                            "same name: rename one of the submissions")
        found[one.student] = one.file
    if not found:
        raise ToolError(f"{folder}: has no submissions (files that end in {' or '.join(ENDINGS)})")
    return [Submission(*pair) for pair in sorted(found.items())]


def skipped_in(folder: Path) -> list[str]:
    """Returns the names of files and subfolders that contain no submission. A student may have
    given a file another ending."""
    return [entry.name for entry in entries_of(folder) if submission_of(entry) is None]


def entries_of(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def submission_of(entry: Path) -> Optional[Submission]:
    """Returns the submission in an entry of the class's folder. None: the entry has none."""
    if entry.is_dir():
        files = sorted(file for file in entry.iterdir() if file.suffix in ENDINGS
                       and file.name != "assignment.toml")
        if len(files) > 1:
            raise ToolError(f"{entry}: has {len(files)} submissions, not one: "
                            + ", ".join(file.name for file in files))
        return Submission(student_of(entry.name), files[0]) if files else None
    if entry.suffix not in ENDINGS:
        return None
    is_canvas = CANVAS_NAME.fullmatch(entry.name)
    return Submission(student_of(entry.name if is_canvas else entry.stem), entry)


def share_of(submissions: Sequence[Submission], share: str) -> list[Submission]:
    """Returns the share K/N of the submissions: every N-th submission, from the K-th on."""
    match = re.fullmatch(r"(\d+)/(\d+)", share)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ToolError(f"--share {share}: must be K/N with K from 1 to N, such as 2/8")
    return list(submissions[int(match[1]) - 1::int(match[2])])


def grade_all(submissions: Sequence[Submission], grade_one: Callable[[Submission], Mark],
              jobs: int, say: Callable[[str], None]) -> list[Mark]:
    """Grades all submissions, `jobs` at a time. A submission that the grader cannot grade does not
    stop the others."""
    marks: dict[str, Mark] = {}
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(grade_one, one): one for one in submissions}
        for future in as_completed(futures):
            student = futures[future].student
            try:
                marks[student] = future.result()
            except (ToolError, Failed, OSError) as error:
                marks[student] = Mark(student, None, f"not graded: {error}")
            mark = marks[student]
            shown = "not graded" if mark.score is None else f"{mark.score:g} of {FULL}"
            say(f"{len(marks)}/{len(submissions)} {student}: {shown}")
    return [marks[one.student] for one in submissions]


def digest_of(task: str, file: Path) -> str:
    """Returns a hash of the task and the file. Raises Unreadable if the file cannot be read."""
    try:
        data = read_bytes(file)
    except Unreadable:
        raise
    except Refused as error:  # for example, a pipe, from which reading would never end
        data = str(error).encode()
    return hashlib.sha256(task.encode() + b"\0" + data).hexdigest()[:16]


def kept_mark(folder: Path, student: str, digest: str) -> Optional[Mark]:
    """Returns the mark of an earlier run, if the same file was graded for the same task."""
    try:
        kept = json.loads((folder / f"{file_name(student)}.json").read_text(encoding="utf-8"))
        mark = Mark(**kept["mark"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return mark if (mark.student, mark.digest) == (student, digest) else None


def keep_mark(folder: Path, mark: Mark, text: str) -> None:
    write_whole_file(folder / f"{file_name(mark.student)}.txt", text + "\n")
    write_whole_file(folder / f"{file_name(mark.student)}.json",
                     json.dumps({"mark": vars(mark)}, indent=1) + "\n")


def file_name(student: str) -> str:
    return re.sub(r"[^\w.@-]", "_", student)


def as_canvas(marks: Sequence[Mark], title: str, roster: Optional[list[dict[str, str]]]) -> str:
    """Returns a gradebook for Canvas: the roster that Canvas exported, with the points of this
    assignment. Without a roster, students are identified by their login."""
    if roster is None:
        rows = [{"SIS Login ID": mark.student} for mark in marks]
        keys = [mark.student for mark in marks]
    else:
        rows = [{name: row.get(name, "") for name in CANVAS_COLUMNS} for row in roster
                if row.get("Student", "").strip() != POSSIBLE]
        keys = matched(rows, marks, canvas_names)
        title = next((name for name in (roster[0] if roster else {})
                      if name.startswith(f"{title} (")), title)
    scores = {mark.student: mark.score for mark in marks}
    table = [[*CANVAS_COLUMNS, title], [f"    {POSSIBLE}", "", "", "", "", str(FULL)]]
    table += [[*(row.get(name, "") for name in CANVAS_COLUMNS), shown_score(scores.get(key))]
              for row, key in zip(rows, keys)]
    return as_csv(table)


def as_moodle(marks: Sequence[Mark], title: str, roster: Optional[list[dict[str, str]]]) -> str:
    """Returns a file for Moodle's grade import: a column that identifies the user, the points, and
    the feedback. Moodle overwrites points that come without feedback, so the file has both."""
    of = {mark.student: mark for mark in marks}
    if roster is None:
        head, rows = ["Username"], [{"Username": mark.student} for mark in marks]
        keys = [mark.student for mark in marks]
    else:
        head = [name for name in MOODLE_COLUMNS if roster and name in roster[0]]
        rows, keys = roster, matched(roster, marks, moodle_names)
        if not head:
            raise ToolError(f"the roster has none of the columns {', '.join(MOODLE_COLUMNS)}")
    table = [[*head, title, f"{title} (feedback)"]]
    for row, key in zip(rows, keys):
        mark = of.get(key, Mark(key, None, ""))
        table.append([*(row[name] for name in head), shown_score(mark.score), mark.feedback])
    return as_csv(table)


def as_plain(marks: Sequence[Mark], title: str, roster: Optional[list[dict[str, str]]]) -> str:
    return as_csv([["student", title, "feedback"],
                   *([mark.student, shown_score(mark.score), mark.feedback] for mark in marks)])


FORMATS = {"canvas": as_canvas, "moodle": as_moodle, "plain": as_plain}


def canvas_names(row: dict[str, str]) -> Iterable[str]:
    """Yields the names under which the student in a row of Canvas's export may have submitted."""
    yield from (row.get(name, "") for name in ("ID", "SIS User ID", "SIS Login ID", "Student"))
    last, comma, first = row.get("Student", "").partition(", ")
    if comma:
        yield f"{first} {last}"


def moodle_names(row: dict[str, str]) -> Iterable[str]:
    yield from (row.get(name, "") for name in MOODLE_COLUMNS)
    yield f"{row.get('First name', '')} {row.get('Last name', row.get('Surname', ''))}".strip()


def matched(rows: Sequence[dict[str, str]], marks: Sequence[Mark],
            names: Callable[[dict[str, str]], Iterable[str]]) -> list[str]:
    """Returns the student of each row, or "" for a row without a submission. Raises ToolError if a
    submission belongs to no row or to two."""
    students = {mark.student for mark in marks}
    keys = [next((name for name in names(row) if name and name in students), "") for row in rows]
    for student in sorted(students):
        if keys.count(student) != 1:
            raise ToolError(f"the roster has {keys.count(student)} rows for the submission of "
                            f"{student}; it must have one")
    return keys


def shown_score(score: Optional[float]) -> str:
    return "" if score is None else f"{score:g}"


def as_csv(table: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in table:
        writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in row])
    return text.getvalue()


def read_roster(file: Path) -> list[dict[str, str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            rows = [{key: value or "" for key, value in row.items() if key} for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ToolError(f"{file}: {error}") from error
    if not rows:
        raise ToolError(f"{file}: has no rows below its heading")
    return rows
