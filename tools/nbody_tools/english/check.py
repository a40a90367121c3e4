"""Counts phrases in changed lines that make a native reader stop, by rule (rules.py).

    python3 -m nbody_tools.english.check                 every tracked file
    python3 -m nbody_tools.english.check --changed REV   only lines added since that revision
    python3 -m nbody_tools.english.check --list ...      also prints each sentence and a remedy

Run this command in the folder tools/. Its exit code is 2 if an argument is wrong, and otherwise 0,
even if phrases are found.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from nbody_tools.arguments import ROOT, OneLineParser, ToolError, fail
from nbody_tools.english.rules import RULES, Rule
from nbody_tools.english.sentences import sentences_of

SKIPPED = re.compile(r"(^|/)(docs/results|docs/figures|corpus|data|english)/|docs/errata\.md$")


def hits(path: Path) -> Iterator[tuple[int, Rule, str]]:
    """Yields (line, rule, sentence) for each sentence of a file that matches a rule."""
    for number, sentence in sentences_of(path):
        yield from ((number, rule, sentence) for rule in RULES if rule.pattern.search(sentence))


def git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, text=True, errors="replace", check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise ToolError(f"git {words[0]}: {(done.stderr.strip() or 'failed').splitlines()[0]}")
    return done.stdout.splitlines()


def added_lines(root: Path, revision: str) -> dict[str, set[int]]:
    """Returns, for each file, the numbers of the lines that were added since the revision."""
    lines: dict[str, set[int]] = {}
    added: set[int] = set()
    words = ("diff", "-U0", "--no-color", "--no-ext-diff", "--dst-prefix=b/", revision, "--")
    for line in git(root, *words):
        if line.startswith("+++ "):
            added = lines.setdefault(line[6:], set())
        elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            added.update(range(int(hunk[1]), int(hunk[1]) + int(hunk[2] or 1)))
    return lines


def count(root: Path, revision: Optional[str],
          say: Optional[Callable[[str], None]] = None) -> Counter:
    """Counts hits by rule. Calls `say`, if it is given, with a line for each hit."""
    added = added_lines(root, revision) if revision else {}
    counts: Counter = Counter()
    for name in added if revision else git(root, "ls-files"):
        for number, rule, sentence in () if SKIPPED.search(name) else hits(root / name):
            if not revision or number in added[name]:
                counts[rule.name] += 1
                if say:
                    say(f"{name}:{number}: {rule.name}: {sentence[:160]} [{rule.instead}]")
    return counts


def main(words: Optional[Sequence[str]] = None, root: Path = ROOT) -> int:
    parser = OneLineParser(prog="english", description=__doc__,
                           formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", metavar="REV", help="only lines added since this git revision")
    parser.add_argument("--list", action="store_true", help="print each sentence")
    options = parser.parse_args(words)
    try:
        counts = count(root, options.changed, print if options.list else None)
    except ToolError as error:
        return fail(f"english: {error}")
    for rule in RULES:
        if counts[rule.name]:
            print(f"{counts[rule.name]:5}  {rule.name:14} {rule.reason}: {rule.instead}")
    print(f"{sum(counts.values()):5}  in total")
    return 0


if __name__ == "__main__":
    sys.exit(main())
