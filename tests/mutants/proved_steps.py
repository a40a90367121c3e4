"""Prints a CMake list of the steps whose mutants have passed the nightly tests with the present
files.

A step is left out if a file that belongs to its test (tests/nightly/subjects.toml) has changed
since, if the test has failed since, or if there is no git history.
"""
from nbody_tools.nightly.ledger import read_ledger
from nbody_tools.nightly.subjects import changed_since, matcher, paths_of, read_subjects

PREFIX = "nightly.mutants.step"


def is_proved(row, subjects):
    changed = changed_since(row.passed) if row.passed and not row.red else None
    return changed is not None and not any(map(matcher(paths_of(row, subjects)), changed))


def main():
    subjects = read_subjects()
    rows = [row for row in read_ledger().values() if row.test.startswith(PREFIX)]
    print(";".join(row.test.removeprefix("nightly.mutants.") for row in rows
                   if is_proved(row, subjects)))


if __name__ == "__main__":
    main()
