"""Writes every generated document: NAME.md from NAME.template.md next to it, or the marked places
in NAME.md.

  ./nbody documents                     writes all documents, and lists those that changed
  ./nbody documents step03_tiling       writes the documents in one folder
  ./nbody documents --check             changes nothing; lists outdated or wrong documents;
                                        exits 1 if there are any

tools/nbody_tools/documents/README.md is the manual of the templates. With and without --check,
this tool also checks the limits of each step (documents/sources.py): the number of lines of a
program, the number of lines that change from one step to the next, and the length and headings of a
step's README. It lists the items that a published step lacks (documents/missing.py), and the broken
links and missing pictures of all pages (documents/links.py). docs/report.md also needs figures,
which ./nbody report draws. ./nbody validation writes docs/validation.md, its reference and
docs/mutants.md.
"""

from __future__ import annotations

import argparse
import difflib
import re
from pathlib import Path
from typing import Any, Iterator, Optional

from nbody_tools.arguments import ROOT, ToolError, write_whole_file
from nbody_tools.documents import sources
from nbody_tools.documents.links import dead_links
from nbody_tools.documents.missing import missing_of_a_step, todos_in, undefined_terms
from nbody_tools.documents.unlisted import unlisted
from nbody_tools.documents.templates import (
    ENDING,
    MEASUREMENTS,
    Rendered,
    document_of,
    is_template,
    literal_numbers,
    render,
    step_of,
    typed_measurements,
)
from nbody_tools.documents.vocabulary import Vocabulary
from nbody_tools.steps import STEP_NAME, is_draft, step_folders

HEADINGS = ("## Why we are here", "## The idea", "## What changed", "## Stop and predict",
                   "## Look", "## Account for the factor", "## What to believe now", "## Exercises")
EXERCISE = re.compile(r"\d+\. \*\*\(\d+ min, (?:try|think|write)\)")
# These lessons have no measurements.md.
OTHER_LESSONS = ("memory/*.md", "integrators/README.md", "float64/README.md",
                 "small_systems/README.md")
MEASURED_NUMBERS = 20  # limit per README; a README with more numbers would read like a log
MEASUREMENT_HEADINGS = ("## Predicted", "## Measured", "## What the profiler says",
                        "## Without a GPU", "## Accuracy")
FOLDERS = (
    "",
    "docs",
    "docs/reports",
    "docs/measurements",
    "course",
    "course/answers",
    "cpu/*",
    "experiments/*",
    *(f"step{digit}*" for digit in range(10)),
)
# Other modules write these documents and test whether they are up to date.
WRITTEN_BY_VALIDATION = ("docs/validation.md", "docs/validation_reference.md", "docs/mutants.md")
WRITTEN_ELSEWHERE = (*WRITTEN_BY_VALIDATION, "docs/debugging.md")
REPORT, REPORT_TABLES = "docs/report.template.md", "docs/report_tables.template.md"
INLINE_PLACE = re.compile(r"<!-- \{\{[^}]*\}\} -->(?!\n)")


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("folder", nargs="?", help="only documents of this folder, such as step03_tiling")
    p.add_argument("--check", action="store_true",
                   help="change nothing, and list documents that are out of date or wrong")
    p.add_argument("--verbose", action="store_true", help="also list missing optional numbers")
    p.add_argument("--root", type=Path, default=ROOT, metavar="DIR", help="root of the repository")


def templates(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        for template in sorted(root.glob(f"{folder}/*.md" if folder else "*.md")):
            name = str(template.relative_to(root))
            if (
                name not in WRITTEN_ELSEWHERE
                and not is_draft(step_of(template), root)
                and is_template(template)
            ):
                yield template


def words_for(template: Path, vocabulary: Vocabulary) -> dict[str, Any]:
    step = step_of(template)
    words = vocabulary.words
    return {**words, **vocabulary.words_of_step(step)} if step in vocabulary.sources else words


def update(template: Path, root: Path, words: dict[str, Any], write: bool,
           command: str = "documents") -> Rendered:
    """Renders a document. If `write` is set, writes the result unless it has problems; otherwise
    compares the result with the existing file."""
    rendered = render(template, root, words)
    where = template.relative_to(root)
    text = template.read_text(encoding="utf-8")
    if str(where) in (REPORT, REPORT_TABLES):
        rendered.problems += literal_numbers(text, str(where))
    elif STEP_NAME.fullmatch(step_of(template)):
        rendered.problems += typed_measurements(text, str(where))
    document = document_of(template)
    old = document.read_text(encoding="utf-8") if document.exists() else None
    if rendered.text and old != rendered.text:
        if not write:
            rendered.problems.append(
                staleness(document.relative_to(root), old, rendered.text, command)
            )
        elif not rendered.problems:
            write_whole_file(document, rendered.text)
            rendered.written.append(str(document.relative_to(root)))
    return rendered


def staleness(where: Path, old: Optional[str], new: str, command: str) -> str:
    if old is None:
        return f"{where}: is missing; run ./nbody {command}"
    a, b = old.splitlines(), new.splitlines()
    line = next(
        (i for i, pair in enumerate(zip(a + [""], b + [""]), start=1) if pair[0] != pair[1]), 1
    )
    changed = sum(text[:1] in "+-" for text in list(difflib.unified_diff(a, b, n=0))[2:])
    lines = "1 line differs" if changed == 1 else f"{changed} lines differ"
    return f"{where}:{line}: out of date ({lines}); run ./nbody {command}"


def wrong_shape(readme: Path, root: Path) -> list[str]:
    """Returns the problems of a step's README and of the template of its measurements page."""
    where = readme.relative_to(root)
    template = Path("docs", MEASUREMENTS, readme.parent.name + ENDING)
    problems = []
    if (root / template).is_file():
        measured = (root / template).read_text(encoding="utf-8").splitlines()
        problems += [f"{template}: heading '{heading}' is missing"
                     for heading in MEASUREMENT_HEADINGS if heading not in measured]
    else:
        problems.append(f"{template}: is missing: write it with the headings "
                        f"{', '.join(MEASUREMENT_HEADINGS)}")
    if not readme.is_file():
        return [*problems, f"{where}: is missing: write the lesson, with sections as in step 05"]
    lines = readme.read_text(encoding="utf-8").splitlines()
    problems += too_long(lines, where)
    in_the_lesson = missing_in_a_lesson(lines, section_of(lines))
    return problems + [f"{where}: {what}" for what in in_the_lesson]


def too_long(lines: list[str], where: Path) -> list[str]:
    if len(lines) <= sources.Budget.readme:
        return []
    return [f"{where}: {len(lines)} lines, at most {sources.Budget.readme} are allowed"]


def problems_of_other_lessons(root: Path) -> Iterator[str]:
    """Yields the problems of the lessons that are not about a step."""
    for page in sorted(page for pattern in OTHER_LESSONS for page in root.glob(pattern)):
        where = page.relative_to(root)
        lines = page.read_text(encoding="utf-8").splitlines()
        yield from too_long(lines, where)
        yield from (f"{where}: {what}" for what in unmarked_exercises(section_of(lines)))


def missing_in_a_lesson(lines: list[str], sections: dict[str, str]) -> Iterator[str]:
    """Yields the problems of a lesson. A lesson needs headings in the right order, a question at
    the top, a folded prediction, few measured numbers, and a link to the next step."""
    headings = [line for line in lines if line.startswith("## ")]
    if headings != list(HEADINGS):
        yield f"the headings of a lesson must be {', '.join(HEADINGS)}, in this order"
    text = " ".join("\n".join(lines).split())
    for mark in ("**Question:**", "**In one sentence:**", "**You need**", "**Time:**", "**Next:**",
                 "(measurements.md)", "(../docs/answers.md#"):
        if mark not in text:
            yield f"'{mark}' is missing"
    if "<details>" not in sections.get("## Stop and predict", ""):
        yield "our prediction must be folded: <details><summary>...</summary> ... </details>"
    if "/figures/" not in sections.get("## The idea", ""):
        yield ("the idea has no diagram: draw one in tools/nbody_tools/diagrams/, and show it as "
               "![...](../docs/figures/diagrams/NAME.svg)")
    if "**" not in sections.get("## The idea", ""):
        yield "the idea has no term in bold: mark a term that docs/glossary.toml defines"
    numbers = len(INLINE_PLACE.findall("\n".join(lines)))
    if numbers > MEASURED_NUMBERS:
        yield f"{numbers} measured numbers in the text, at most {MEASURED_NUMBERS} are allowed"
    yield from unmarked_exercises(sections)
    yield from todos_in(text)


def unmarked_exercises(sections: dict[str, str]) -> Iterator[str]:
    """Yields the exercises that do not begin with their minutes and their level."""
    for line in sections.get("## Exercises", "").splitlines():
        if re.match(r"\d+\. ", line) and not EXERCISE.match(line):
            yield (f"exercise {line.partition('.')[0]} must begin like '1. **(10 min, try)'; the "
                   "levels are try, think and write")


def section_of(lines: list[str]) -> dict[str, str]:
    """Maps each heading to the text of its section, including the heading."""
    sections: dict[str, str] = {}
    heading = ""
    for line in lines:
        heading = line if line.startswith("## ") else heading
        sections[heading] = sections.get(heading, "") + line + "\n"
    return sections


def run(options: argparse.Namespace) -> int:
    root = options.root.resolve()
    vocabulary = Vocabulary(root)
    chosen = [template for template in templates(root)
              if options.folder in (None, str(template.parent.relative_to(root)))]
    if not chosen:
        raise ToolError(f"there is no template in '{options.folder or root}'")
    result = Rendered()
    for template in chosen:
        rendered = update(template, root, words_for(template, vocabulary), write=not options.check)
        result.problems += rendered.problems
        result.missing += rendered.missing
        result.written += rendered.written
    if options.folder is None:
        result.problems += sources.broken_budgets(vocabulary.sources)
        result.problems += unlisted(root)
        result.problems += problems_of_other_lessons(root)
    for name, source in vocabulary.sources.items():
        if options.folder in (None, name):
            readme = root / name / "README.md"
            result.problems += wrong_shape(readme, root)
            result.problems += undefined_terms(readme, root)
            result.problems += missing_of_a_step(source, vocabulary.facts, root)
    generated = {document_of(template) for template in templates(root)}
    generated |= {root / name / "measurements.md" for name in vocabulary.sources}
    result.problems += dead_links(root, generated, options.folder)
    for name in step_folders(root):
        if is_draft(name, root) and options.folder in (None, name):
            print(f"{name}: a draft, so its page, picture and measurements are not checked (DRAFT "
                  "in its CMakeLists.txt)")
    return report_problems(result, options.verbose)


def report_problems(result: Rendered, verbose: bool = False) -> int:
    for name in result.written:
        print(f"wrote {name}")
    for problem in dict.fromkeys(result.problems):
        print(problem)
    if verbose:
        for text in result.missing:
            print(f"optional: {text}")
    elif result.missing:
        print(f"optional numbers, tables or figures that are missing: {len(result.missing)} "
              "(--verbose lists them)")
    return 1 if result.problems else 0
