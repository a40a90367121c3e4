"""Finds what a published step lacks: mutants, measurements, a profile, a prediction, and
definitions of its terms. Drafts may lack these; CONTRIBUTING.md says how a draft becomes a step."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Iterator

from nbody_tools.arguments import ToolError
from nbody_tools.course import glossary
from nbody_tools.documents.sources import Source
from nbody_tools.documents.templates import ENDING, MEASUREMENTS
from nbody_tools.records.facts import Facts

MUTANTS = Path("tests", "mutants", "mutants.toml")
PREDICTIONS = Path("docs", "results", "predictions.md")
PROFILES = Path("docs", "results", "profiles")
TERMS = Path("docs", "glossary.toml")
# Matches any {{ ... }} except {{ profile(...) }}. A section with such a match needs no profile.
OTHER_COUNTS = re.compile(r"\{\{(?! *profile\()")


def missing_of_a_step(source: Source, facts: Facts, root: Path) -> Iterator[str]:
    """Yields one line per missing item: the file that should contain it, and what to do."""
    name, number = source.name, source.number
    draft = f"or keep DRAFT in {name}/CMakeLists.txt"
    runs_on_ranks = "COMMON" in text_of(root / name / "CMakeLists.txt")
    measurements = Path("docs", MEASUREMENTS, name + ENDING)
    for file in (Path(source.shown_path), measurements):
        yield from (f"{file}: {what}" for what in todos_in(text_of(root / file)))
    if not runs_on_ranks and name not in mutants(root):
        yield (f"{MUTANTS} has no mutant of {name}; add a table [{name}.NAME] with a bug that the "
               "step's checks must reject")
    if not is_measured(name, facts, root):
        yield (f"docs/results/ has no measurement of {name}; on a GPU, run ./nbody run {number} "
               f"--systems 32 --bodies 8192 --steps 20 --output build/records, {draft}")
    if source.file.suffix == ".cu" and not runs_on_ranks and facts.profile(name) is None:
        if not OTHER_COUNTS.search(section(text_of(root / measurements), "What the profiler says")):
            yield (f"{PROFILES}/ has no profile of {name}; on a GPU, run ./nbody profile {number} "
                   f"--json {PROFILES}/NAME.jsonl, {draft}")
    if not any(re.match(rf"(?:step )?{number}(?!\w)", key) for key in facts.predictions):
        yield (f"{PREDICTIONS} has no prediction for step {number}; before you measure, add a row "
               f"{number} to a table 'step | reasoning | predicted G/s | predicted s'")


def undefined_terms(readme: Path, root: Path) -> list[str]:
    """Returns one message per term that is in bold in a lesson's section "The idea", but is not
    defined."""
    defined = {form for term in glossary.read_terms(root / TERMS) for form in term.forms}
    idea = glossary.idea_of(text_of(readme))
    return [f"{readme.relative_to(root)}: '{term}' is in bold, but {TERMS} does not define it; add "
            "its meaning there"
            for term in dict.fromkeys(glossary.bold(idea)) if term not in defined]


def todos_in(text: str) -> Iterator[str]:
    if left := text.count("TODO"):
        yield f"{left} TODOs are left" if left > 1 else "a TODO is left"


def mutants(root: Path) -> dict[str, Any]:
    """Returns the tables of mutants.toml, by step."""
    try:
        return tomllib.loads(text_of(root / MUTANTS))
    except tomllib.TOMLDecodeError as error:
        raise ToolError(f"{MUTANTS}: {error}") from error


def is_measured(name: str, facts: Facts, root: Path) -> bool:
    """True if a file of docs/results/ has a record of the step from a run without emulation."""
    if any(measured.name == name for measured in facts.measured):
        return True
    record = re.compile(rf'"step": ?"{name}".*"backend": ?"(?:cuda|cpu)"')
    return any(record.search(text_of(file)) for file in (root / "docs/results").rglob("*.jsonl"))


def section(text: str, heading: str) -> str:
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""
