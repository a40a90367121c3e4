"""Finds the files that the user has changed since main, committed or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from nbody_tools.arguments import Failed
from nbody_tools.nightly.subjects import changed_since, git

MAINS = ("origin/HEAD", "origin/main", "main")  # the first that exists counts as main


@dataclass(frozen=True)
class Change:
    main: str  # the branch of MAINS that the files are compared with
    files: tuple[str, ...]  # files that differ in more than comments
    new: tuple[str, ...] = ()  # files that git does not track yet


def change_since_main() -> Optional[Change]:
    """Returns what has changed since this branch left main, or None if there is no main."""
    for main in MAINS:
        try:
            files = changed_since(git("merge-base", "HEAD", main))
            new = git("ls-files", "--others", "--exclude-standard").splitlines()
        except Failed:
            continue
        return Change(main, files or (), tuple(new))
    return None
