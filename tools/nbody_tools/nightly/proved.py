"""Prints a CMake list of the nightly tests, in the preset cpu, that have passed with these files.

A test is left out if a file of its subject (tests/nightly/subjects.toml) has changed since or is
new, if the test has failed since, or if there is no git history.
"""

from __future__ import annotations

from nbody_tools.arguments import Failed
from nbody_tools.nightly.ledger import read_ledger
from nbody_tools.nightly.plan import needs_a_run
from nbody_tools.nightly.subjects import git, matcher, paths_of, read_subjects


def main() -> None:
    try:
        new = git("ls-files", "--others", "--exclude-standard").splitlines()
    except Failed:
        return
    subjects = read_subjects()
    print(";".join(row.test for row in read_ledger().values()
                   if row.preset == "cpu" and not any(map(matcher(paths_of(row, subjects)), new))
                   and not needs_a_run(row, subjects)))


if __name__ == "__main__":
    main()
