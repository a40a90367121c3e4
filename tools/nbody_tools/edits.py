#!/usr/bin/env python3
"""Applies declared edits to a step's source, for mutants and for variants to be measured.

    edits.py ORIGINAL NAME FOLDER COUNT [COPY]

For K from 0 to COUNT - 1, replaces the text in FOLDER/find_K.txt, which must occur exactly once in
ORIGINAL, by the text in FOLDER/replace_K.txt. Also renames the step to NAME. Without COPY, only
checks that this can be done.
"""
import sys
from pathlib import Path
from typing import Iterable, Optional, Sequence


class EditError(Exception):
    pass


def replaced(text: str, edits: Iterable[Sequence[str]], where: str) -> str:
    """Applies `edits`, pairs of a text and its replacement, to `text` and returns the result. Each
    text must occur exactly once; `where` begins the message of the EditError if it does not."""
    for find, replace in edits:
        if text.count(find) != 1:
            raise EditError(f"{where}: the text to replace must occur once, not "
                            f"{text.count(find)} times: {find}")
        text = text.replace(find, replace)
    return text


def edited(original: Path, name: str, edits: Iterable[Sequence[str]] = (),
           main: str = "nbody::step_main") -> str:
    """Applies `edits` to the text of the step `original`, renames the step to `name` and returns
    the result. `main` replaces nbody::step_main."""
    text = replaced(original.read_text(encoding="utf-8"), edits, f"{name}: {original}")
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
