"""Reads facts from the sources of the steps: ideas, sizes, and the lines changed from one step to
the next; checks them against limits."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from nbody_tools.arguments import ToolError
from nbody_tools.steps import number_of, published_steps
from nbody_tools.tables import markdown


class Budget:
    """Limits on the length of programs, changes and READMEs; README.md quotes them."""

    changed = 100  # lines added or removed, compared with the parent; more would be a second idea
    changed_layout = 120  # limit for steps that replace the whole layout or decomposition
    layout_steps = ("09", "10")
    changed_kernel = 150  # limit for steps beyond the reports: these may replace the kernel
    first_kernel_step = "11"
    # For steps that replace nearly all of the kernel, of its launch, and of the code around both.
    changed_all = {"12": 185, "13": 195, "14": 200}
    lines = 190  # per program
    more_lines = {"12": 210}  # this step has two kinds of tiles, and a ring of tiles
    first_lines = 140  # limit for the first programs, whose readers are new to kernels
    last_first = "04b"
    readme = 110  # most lines of a step's README
    excerpt = 24  # most lines of one diff in a README


class SourceError(ToolError):
    pass


@dataclass(frozen=True)
class Source:
    """A step's program."""

    folder: Path
    file: Path
    text: str
    parent: Optional[str]  # the previous step's name; None for the first step

    name = property(lambda self: self.folder.name)
    number = property(lambda self: number_of(self.name))
    lines = property(lambda self: self.text.splitlines())
    shown_path = property(lambda self: f"{self.name}/{self.file.name}")
    line_budget = property(lambda self: Budget.first_lines if self.number <= Budget.last_first
                           else Budget.more_lines.get(self.number, Budget.lines))
    change_budget = property(
        lambda self: (
            Budget.changed_layout
            if self.number in Budget.layout_steps
            else Budget.changed
            if self.number < Budget.first_kernel_step
            else Budget.changed_all.get(self.number, Budget.changed_kernel)
        )
    )

    @property
    def idea(self) -> str:
        """Returns the idea from the source's first paragraph: `// stepNN_name -- what it adds.`."""
        words = []
        for line in self.lines:
            if line.strip() in ("", "//") or not line.startswith("//"):
                break
            words.append(line[2:].strip())
        return " ".join(words).partition(" -- ")[2].rstrip(".")


def read_source(folder: Path) -> Optional[Source]:
    """Returns the program in a folder, or None if there is none."""
    for file in (folder / "nbody.cpp", folder / "nbody.cu"):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            parent = re.search(r'\.parent\s*=\s*"(\w+)"', text)
            return Source(folder, file, text, parent.group(1) if parent else None)
    return None


def read_sources(root: Path) -> dict[str, Source]:
    sources = (read_source(root / name) for name in published_steps(root))
    return {source.name: source for source in sources if source is not None}


def diff(source: Source, sources: dict[str, Source]) -> list[str]:
    """Returns the output of the diff command, because difflib's diffs are longer than necessary."""
    if source.parent is None:
        return []
    if source.parent not in sources:
        raise SourceError(f"{source.shown_path}: its parent {source.parent} does not exist")
    parent = sources[source.parent]
    labels = ["--label", parent.shown_path, "--label", source.shown_path]
    done = subprocess.run(["diff", "-u", *labels, str(parent.file), str(source.file)], text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode > 1:
        raise SourceError(f"diff failed on {parent.shown_path} and {source.shown_path}")
    return done.stdout.splitlines()


def changed(lines: Sequence[str]) -> int:
    """Counts changed lines that are not blank, without the two header lines (--- and +++)."""
    return sum(line[:1] in ("+", "-") and line[1:].strip() != "" for line in lines[2:])


def excerpt(lines: Sequence[str], first: str, last: str) -> list[str]:
    """Returns a diff's lines from the one that begins with `first` to the one that begins with
    `last`."""
    begin = the_line(lines, first, 0)
    end = the_line(lines, last, begin)
    if end - begin >= Budget.excerpt:
        raise SourceError(
            f"'{first}' to '{last}' are {end - begin + 1} lines, at most {Budget.excerpt} are "
            "allowed"
        )
    return list(lines[begin:end + 1])


def the_line(lines: Sequence[str], text: str, start: int) -> int:
    """Returns the index, at or after `start`, of the line that begins with the text. A + or -
    before the text selects added or removed lines. A line equal to the text takes precedence."""
    kind, text = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    text = text.strip()
    places = [i for i in range(max(start, 2), len(lines)) if lines[i].startswith(kind)]
    for fits in (str.__eq__, str.startswith):
        matches = [i for i in places if fits(lines[i][1:].strip(), text)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            break
    raise SourceError(f"'{kind}{text}' is on {len(matches)} lines of the diff, not on one")


def budgets_table(sources: dict[str, Source]) -> str:
    """Returns a table with one row per group of steps that have the same limits."""
    steps: dict[tuple[int, int], list[str]] = {}
    for source in sources.values():
        steps.setdefault((source.change_budget, source.line_budget), []).append(source.number)
    return markdown(
        ("steps", "changed against the parent", "program", "README"),
        [
            [", ".join(numbers), *map(str, budgets), str(Budget.readme)]
            for budgets, numbers in steps.items()
        ],
    )


def broken_budgets(sources: dict[str, Source]) -> list[str]:
    problems = []
    for source in sources.values():
        if len(source.lines) > source.line_budget:
            problems.append(
                f"{source.shown_path}: {len(source.lines)} lines, "
                f"at most {source.line_budget} are allowed"
            )
        try:
            lines = changed(diff(source, sources))
        except SourceError as error:
            problems.append(str(error))
            continue
        if lines > source.change_budget:
            problems.append(
                f"{source.shown_path}: {lines} changed lines against {source.parent}, at "
                f"most {source.change_budget} are allowed"
            )
    return problems
