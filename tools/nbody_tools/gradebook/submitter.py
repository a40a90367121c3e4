"""Finds the student who submitted to Gradescope. Gradescope gives the grader a file,
submission_metadata.json. Gradescope's documentation of autograders describes this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Container, Iterator

from nbody_tools.arguments import ToolError

FORMAT = 'needs {"users": [{"email": "...", "name": "..."}, ...]}'


def submitter_in(metadata: Path, students: Container[str]) -> str:
    """Returns the student who submitted, as named in the teacher's table. If a group submitted,
    returns the first member who is in the table."""
    names = list(names_in(metadata))
    found = next((name for name in names if name in students), None)
    if found is None:
        raise ToolError(f"{metadata}: the table of variants contains none of its users: "
                        f"{', '.join(names) or 'the file lists no users'}")
    return found


def names_in(metadata: Path) -> Iterator[str]:
    """Yields the names that a table may use for each user: the e-mail address, the part before the
    @, and the name."""
    try:
        users = json.loads(metadata.read_text(encoding="utf-8"))["users"]
        known = [(user["email"], user["name"]) for user in users]
    except OSError as error:
        raise ToolError(f"{metadata}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"{metadata}: {FORMAT}") from error
    for email, name in known:
        yield from (email, email.partition("@")[0], name)
