"""Reads facts from the sources of the steps: ideas, sizes, and the lines that change from one step
to the next. Checks the sizes and the numbers of changed lines against limits."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional, Sequence

from nbody_tools.arguments import ToolError
from nbody_tools.steps import number_of, published_steps
from nbody_tools.tables import ABSENT, markdown


class Budget:
    """Limits on the length of programs, changes and READMEs; README.md quotes these limits. All
    files of a step count, including its headers."""

    changed = 100  # lines added or removed, compared with the parent; more would be a second idea
    changed_layout = 120  # limit for steps that replace the whole layout or decomposition
    layout_steps = ("09", "10")
    changed_kernel = 150  # limit for steps beyond the reports: these may replace the kernel
    first_kernel_step = "11"
    lines = 190  # per program
    first_lines = 140  # limit for the first programs, whose readers are new to kernels
    last_first = "04b"
    large_lines = 350  # limit for a cluster and for trees
    large_steps = ("14", "15", "15b", "15c", "15d", "15e", "16")
    # Steps that exceed these limits, as README.md says. No other step may exceed them, and a step
    # that is within a limit again must be removed from its list.
    exceeded_lines = ("12", "14", "15")
    exceeded_changed = ("12", "13", "14", "15d", "15e", "16")
    readme = 110  # lines of a step's README
    excerpt = 24  # lines of one diff in a README


class SourceError(ToolError):
    pass


@dataclass(frozen=True)
class Source:
    """A step's program."""

    folder: Path
    file: Path
    text: str
    parent: Optional[str]  # the previous step's name; None for the first step
    # The headers that the program includes from its own folder or from another step, by name.
    headers: dict[str, Path] = field(default_factory=dict)

    name = property(lambda self: self.folder.name)
    number = property(lambda self: number_of(self.name))
    lines = property(lambda self: self.text.splitlines())
    shown_path = property(lambda self: f"{self.name}/{self.file.name}")

    @property
    def length(self) -> int:
        """Returns the number of lines of all files in the step's folder."""
        own = (path for path in self.headers.values() if path.parent == self.folder)
        return len(self.lines) + sum(len(text_of(path).splitlines()) for path in own)

    @property
    def line_budget(self) -> int:
        if self.number <= Budget.last_first:
            return Budget.first_lines
        return Budget.large_lines if self.number in Budget.large_steps else Budget.lines

    @property
    def change_budget(self) -> int:
        if self.number in Budget.layout_steps:
            return Budget.changed_layout
        is_early = self.number < Budget.first_kernel_step
        return Budget.changed if is_early else Budget.changed_kernel

    @property
    def idea(self) -> str:
        """Returns the idea from the source's first paragraph: `// stepNN_name -- what it adds.`."""
        words = []
        for line in self.lines:
            if line.strip() in ("", "//") or not line.startswith("//"):
                break
            words.append(line[2:].strip())
        return " ".join(words).partition(" -- ")[2].rstrip(".")


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def read_source(folder: Path) -> Optional[Source]:
    """Returns the program in a folder, or None if the folder has no program."""
    for file in (folder / "nbody.cpp", folder / "nbody.cu"):
        if file.is_file():
            text = text_of(file)
            parent = re.search(r'\.parent\s*=\s*"(\w+)"', text)
            return Source(folder, file, text, parent.group(1) if parent else None,
                          headers_of(folder, text))
    return None


def headers_of(folder: Path, text: str) -> dict[str, Path]:
    """Returns the headers in the folder, and those of other steps that the program or one of its
    headers includes."""
    found = {path.name: path for path in sorted(folder.iterdir())
             if path.suffix in (".h", ".cuh", ".hpp")}
    texts = [text, *map(text_of, found.values())]
    while texts:
        for name in re.findall(r'^#include "(step\d\w*/[^"]+)"', texts.pop(), re.M):
            path = folder.parent / name
            if path.is_file() and path.name not in found:
                found[path.name] = path
                texts.append(text_of(path))
    return found


def read_sources(root: Path) -> dict[str, Source]:
    sources = (read_source(root / name) for name in published_steps(root))
    return {source.name: source for source in sources if source is not None}


def diff(source: Source, sources: dict[str, Source]) -> list[str]:
    """Returns the differences from the parent's program, as lines of the diff command, because
    difflib's diffs are longer than necessary."""
    if source.parent is None:
        return []
    if source.parent not in sources:
        raise SourceError(f"{source.shown_path}: its parent {source.parent} does not exist")
    parent = sources[source.parent]
    return diff_of_files(parent.file, source.file)


def diff_of_files(old: Optional[Path], new: Optional[Path]) -> list[str]:
    """Returns the output of the diff command; None stands for an empty file."""
    shown = [f"{file.parent.name}/{file.name}" if file else "/dev/null" for file in (old, new)]
    done = subprocess.run(
        ["diff", "-u", "--label", shown[0], "--label", shown[1], old or "/dev/null",
         new or "/dev/null"], text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode > 1:
        raise SourceError(f"diff failed on {shown[0]} and {shown[1]}")
    return done.stdout.splitlines()


def changes(source: Source, sources: dict[str, Source]) -> int:
    """Counts the lines that differ from the parent, in the programs and in their headers."""
    count = changed(diff(source, sources))
    if source.parent is None:
        return count
    old, new = sources[source.parent].headers, source.headers
    return count + sum(changed(diff_of_files(old.get(name), new.get(name)))
                       for name in sorted(old.keys() | new.keys()))


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


def excesses(source: Source, sources: dict[str, Source]) -> dict[str, str]:
    """Returns a message for each limit that the step exceeds, by the name of the list in Budget
    that has the steps that may exceed it."""
    found = {}
    if source.length > source.line_budget:
        found["exceeded_lines"] = (
            f"{source.length} lines, at most {source.line_budget} are allowed")
    count = changes(source, sources)
    if count > source.change_budget:
        found["exceeded_changed"] = (f"{count} changed lines against {source.parent}, at most "
                                     f"{source.change_budget} are allowed")
    return found


def exceeded_budgets(sources: dict[str, Source]) -> str:
    """Returns a table of the steps that exceed their limits."""
    return markdown(
        ("step", "lines", "allowed", "changed lines", "allowed"),
        [
            [source.name, str(source.length), str(source.line_budget),
             str(changes(source, sources)) if source.parent else ABSENT, str(source.change_budget)]
            for source in sources.values()
            if excesses(source, sources)
        ],
    )


def broken_budgets(sources: dict[str, Source]) -> list[str]:
    problems = []
    for source in sources.values():
        try:
            found = excesses(source, sources)
        except SourceError as error:
            problems.append(str(error))
            continue
        for name in ("exceeded_lines", "exceeded_changed"):
            is_listed = source.number in getattr(Budget, name)
            if name in found and not is_listed:
                problems.append(f"{source.shown_path}: {found[name]}")
            elif is_listed and name not in found:
                problems.append(f"{source.shown_path}: is within this limit, so remove "
                                f'"{source.number}" from Budget.{name}')
    return problems
