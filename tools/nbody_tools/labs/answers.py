"""Reads and checks submissions that are files of answers: key = value, in TOML."""

from __future__ import annotations

import tomllib
from typing import Any, Optional

from nbody_tools.labs.lab import Lab, LabError, Question
from nbody_tools.labs.report import Line, divided

MAX_BYTES = 20_000


class NotAnswers(Exception):
    """The file does not contain answers; the one-line message says why."""


def read_answers(text: str) -> dict[str, Any]:
    if len(text) > MAX_BYTES:
        raise NotAnswers(f"the file is larger than {MAX_BYTES:,} bytes")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also raised for very long integers
        raise NotAnswers(f"the file is not TOML: {error}") from error


def grade_answers(lab: Lab, text: str) -> tuple[Line, ...]:
    right, given = read_answers(lab.solution), read_answers(text)
    if missing := [question.key for question in lab.question if question.key not in right]:
        raise LabError(f"lab {lab.number}: answers.toml lacks {', '.join(missing)}")
    points = divided([question.points for question in lab.question])
    return tuple(graded(question, right[question.key], given.get(question.key), of)
                 for question, of in zip(lab.question, points))


def graded(question: Question, right: Any, given: Any, points: int) -> Line:
    if given is None or given == "":
        return Line(question.key, points, 0, why="no answer")
    try:
        why = wrong_about(question, right, given)
    except (ValueError, RecursionError):  # Python cannot print an integer of over 4300 digits
        why = "the answer cannot be read"
    return Line(question.key, points, float(why is None), why=why or "")


def wrong_about(question: Question, right: Any, given: Any) -> Optional[str]:
    for mistake, what_to_say in question.mistakes.items():
        if is_same(type(right)(mistake), given, question.tolerance):
            return what_to_say
    return None if is_same(right, given, question.tolerance) else f"{given!r} is wrong"[:200]


def is_same(right: Any, given: Any, tolerance: float) -> bool:
    """Tests whether an answer is correct. Numbers may differ by the tolerance, words in case, and
    lists in the order of their items."""
    if isinstance(right, (int, float)) and not isinstance(right, bool):
        is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
        return is_number and right - tolerance * abs(right) <= given <= right + tolerance * abs(
            right
        )
    if isinstance(right, list):
        return isinstance(given, list) and sorted(map(normal, given)) == sorted(map(normal, right))
    return normal(right) == normal(given)


def normal(value: Any) -> str:
    return " ".join(str(value).lower().split())
