#!/usr/bin/env python3
"""Applies declared edits to a step's source, for mutants and for variants to be measured.

    edit_source.py ORIGINAL NAME FOLDER COUNT [COPY]

For K from 0 to COUNT - 1, replaces the text in FOLDER/find_K.txt, which must occur exactly once in
ORIGINAL, by the text in FOLDER/replace_K.txt. Also renames the step to NAME. Without COPY, only
checks that this can be done.
"""
import sys
from pathlib import Path
from typing import Iterable, Optional, Sequence


class EditError(Exception):
    pass


def edited(original: Path, name: str, edits: Iterable[Sequence[str]] = (),
           main: str = "nbody::step_main") -> str:
    """Applies `edits`, pairs of a text and its replacement, to the text of `original` and returns
    the result. `main` replaces nbody::step_main."""
    text = original.read_text(encoding="utf-8")
    for find, replace in edits:
        if text.count(find) != 1:
            raise EditError(f"{name}: the text to replace must occur once in {original}: {find}")
        text = text.replace(find, replace)
    step = original.parent.name
    return text.replace(f'.name = "{step}"', f'.name = "{name}"').replace(
        "nbody::step_main(", f"{main}(")


def main(original: str, name: str, folder: str, count: str, copy: Optional[str] = None) -> None:
    edits = [[Path(folder, f"{part}_{k}.txt").read_text(encoding="utf-8")
              for part in ("find", "replace")] for k in range(int(count))]
    try:
        text = edited(Path(original), name, edits)
    except EditError as error:
        sys.exit(str(error))
    if copy:
        Path(copy).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
