"""Finds out who handed in a submission to Gradescope, which starts the grader with a file
submission_metadata.json. Gradescope's documentation of autograders describes this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Container, Iterator

from nbody_tools.arguments import ToolError

FORMAT = 'needs {"users": [{"email": "...", "name": "..."}, ...]}'


def submitter_in(metadata: Path, students: Container[str]) -> str:
    """Returns the student in the teacher's table who submitted. Of a group, returns the first
    member who is in the table."""
    names = list(names_in(metadata))
    found = next((name for name in names if name in students), None)
    if found is None:
        raise ToolError(f"{metadata}: none of {', '.join(names) or 'no users'} is in the table of "
                        "variants")
    return found


def names_in(metadata: Path) -> Iterator[str]:
    """Yields what a table may call the users: address, the part of it before the @, or name."""
    try:
        users = json.loads(metadata.read_text(encoding="utf-8"))["users"]
        known = [(user["email"], user["name"]) for user in users]
    except OSError as error:
        raise ToolError(f"{metadata}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"{metadata}: {FORMAT}") from error
    for email, name in known:
        yield from (email, email.partition("@")[0], name)
