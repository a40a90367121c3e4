"""Finds stale nightly tests, whose subjects have changed since their last pass.

A test's subject is a set of files, listed in tests/nightly/subjects.toml.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tomllib
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import Callable, Optional, Sequence

from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.nightly.comments import PAGE, code_of, has_comments_to_ignore
from nbody_tools.nightly.ledger import LEDGER, Row

TABLE = ROOT / "tests" / "nightly" / "subjects.toml"
EVERYTHING = ("*",)  # default subject, for tests that the table does not list
TRANSPARENT = str(LEDGER.relative_to(ROOT))  # a commit that changes only this file does not count


@dataclass(frozen=True)
class Subject:
    """The files that tests depend on, as patterns in which * also matches /. A pattern that begins
    with ! excludes files. Patterns may use named groups of the expression `tests`, such as
    {step}."""
    tests: re.Pattern[str]  # searched in "PRESET TEST"
    paths: tuple[str, ...]
    ignores_prose: bool = False  # if true, only the code blocks of pages count


def read_subjects(file: Path = TABLE) -> tuple[Subject, ...]:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        return tuple(Subject(re.compile(one["tests"]), tuple(one["paths"]),
                             one.get("ignores_prose", False))
                     for one in table["subject"])
    except (OSError, tomllib.TOMLDecodeError, KeyError, re.error) as error:
        raise ToolError(f"{file}: {error}; each [[subject]] needs `tests` (an expression) and "
                        "`paths`") from error


def paths_of(row: Row, subjects: Sequence[Subject]) -> tuple[str, ...]:
    """Returns the patterns of all subjects that match the test."""
    found: dict[str, None] = {}
    for subject in subjects:
        if match := subject.tests.search(f"{row.preset} {row.test}"):
            found.update(dict.fromkeys(path.format(**match.groupdict()) for path in subject.paths))
    return tuple(found) or EVERYTHING


def stale_by(row: Row, subjects: Sequence[Subject]) -> Optional[str]:
    """Returns a file of the test's subject that has changed since the test last passed, or None."""
    names = names_since(row.passed)
    if names is None:
        return f"revision {row.passed}, which is not in this clone"
    matches = matcher(paths_of(row, subjects))
    ignores_prose = any(subject.ignores_prose for subject in subjects
                        if subject.tests.search(f"{row.preset} {row.test}"))
    return next((path for path in names if matches(path)
                 and not (ignores_prose and only_prose_changed(row.passed, path))
                 and not only_comments_changed(row.passed, path)), None)


@cache
def only_prose_changed(revision: str, path: str) -> bool:
    if not path.endswith(PAGE):
        return False
    then = texts_at(revision, [path])
    return path in then and code_of(path, then[path]) == code_now(path)


def fingerprint(patterns: tuple[str, ...]) -> str:
    """Returns a hash of the files in the work tree that match the patterns. Outside a clone,
    returns an empty string."""
    matches = matcher(patterns)
    read = hashlib.sha256()
    try:
        listed = git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    except Failed:
        return ""
    for path in listed:
        if matches(path) and (ROOT / path).is_file():
            read.update(f"{path}\0".encode() + (ROOT / path).read_bytes())
    return read.hexdigest()


@cache
def matcher(patterns: tuple[str, ...]) -> Callable[[str], Optional[re.Match[str]]]:
    but = "|".join(translate(pattern[1:]) for pattern in patterns if pattern.startswith("!"))
    of = "|".join(translate(pattern) for pattern in patterns if not pattern.startswith("!"))
    return re.compile(f"(?!{but})(?:{of})" if but else of).match


@cache
def names_since(revision: str) -> Optional[tuple[str, ...]]:
    """Returns the files that have changed since the revision, or None if the clone lacks the
    revision."""
    try:
        return tuple(git("diff", "--name-only", revision, "--").splitlines())
    except Failed:
        return None


def changed_since(revision: str) -> Optional[tuple[str, ...]]:
    """Returns the files that have changed since the revision, not counting those in which only
    comments have changed. Returns None if the clone lacks the revision."""
    names = names_since(revision)
    return names and tuple(name for name in names if not only_comments_changed(revision, name))


@cache
def only_comments_changed(revision: str, path: str) -> bool:
    if not has_comments_to_ignore(path):
        return False
    then = texts_at(revision, [path])
    return path in then and code_of(path, then[path]) == code_now(path)


@cache
def code_now(path: str) -> list[str]:
    file = ROOT / path
    return code_of(path, file.read_text(encoding="utf-8")) if file.exists() else []


def texts_at(revision: str, paths: Sequence[str]) -> dict[str, str]:
    """Returns the contents of these files at the revision. Omits files that did not exist then."""
    asked = "".join(f"{revision}:{path}\n" for path in paths).encode()
    answer = subprocess.run(["git", "-C", str(ROOT), "cat-file", "--batch"], input=asked,
                            stdout=subprocess.PIPE, check=True).stdout
    texts = {}
    for path in paths:
        header, _, answer = answer.partition(b"\n")
        if not header.endswith(b" missing"):
            size = int(header.split()[-1])
            texts[path] = answer[:size].decode("utf-8", errors="replace")
            answer = answer[size + 1:]
    return texts


def revision() -> str:
    """Returns the newest commit of the checkout, ignoring commits that only recorded results."""
    return git("log", "-1", "--abbrev=12", "--format=%h", "--", ".", f":!{TRANSPARENT}")


def uncommitted() -> list[str]:
    changed = git("diff", "--name-only", "HEAD", "--").splitlines()
    return [path for path in changed if path != TRANSPARENT]


def git(*words: str) -> str:
    try:
        ended = subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError:
        raise Failed("git is not installed, and only git knows what has changed") from None
    if ended.returncode:
        raise Failed(f"git {words[0]}: {ended.stderr.strip()}")
    return ended.stdout.strip()
