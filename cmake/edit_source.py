#!/usr/bin/env python3
"""A step's source with one declared edit, for mutants and for variants to be measured.

    edit_source.py ORIGINAL NAME FOLDER [COPY]

The text of FOLDER/find.txt, which must occur exactly once in ORIGINAL, gives way to that of
FOLDER/replace.txt, and the step calls itself NAME. Without COPY this is only checked.
"""
import sys
from pathlib import Path


class EditError(Exception):
    pass


def edited(original, name, find="", replace="", main="nbody::step_main"):
    """The text of the file `original` after the edit; none if `find` is empty. `main` takes the
    place of nbody::step_main."""
    text = original.read_text(encoding="utf-8")
    if find and text.count(find) != 1:
        raise EditError(f"{name}: the text to replace must occur once in {original}: {find}")
    text = text.replace(find, replace) if find else text
    step = original.parent.name
    return text.replace(f'.name = "{step}"', f'.name = "{name}"').replace(
        "nbody::step_main(", f"{main}(")


def main(original, name, folder, copy=None):
    find, replace = (Path(folder, file).read_text(encoding="utf-8")
                     for file in ("find.txt", "replace.txt"))
    try:
        text = edited(Path(original), name, find, replace)
    except EditError as error:
        sys.exit(str(error))
    if copy:
        Path(copy).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
