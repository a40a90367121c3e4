"""Writes docs/glossary.md: the terms that the steps' READMEs print in bold, with their definitions
from docs/glossary.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from nbody_tools.arguments import ToolError
from nbody_tools.steps import number_of, published_steps

BOLD = re.compile(r"\*\*([^*]+)\*\*")
KNOWN = {"name", "also", "text"}


@dataclass(frozen=True)
class Term:
    name: str
    forms: tuple[str, ...]  # spellings that READMEs print in bold, in lower case
    text: str


def read_terms(file: Path) -> list[Term]:
    terms = []
    for key, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
        entry = {"text": entry} if isinstance(entry, str) else entry
        if set(entry) - KNOWN or not entry.get("text", "").endswith("."):
            raise ToolError(f"{file.name}: '{key}' needs a text that ends in a full stop, and "
                            f"may also have the keys {', '.join(sorted(KNOWN - {'text'}))}")
        terms.append(Term(entry.get("name", key), (key, *entry.get("also", ())), entry["text"]))
    return terms


def bold(text: str) -> Iterator[str]:
    """Yields the terms in a text: all bold words except bold sentences and questions."""
    for match in BOLD.finditer(text):
        words = " ".join(match.group(1).split())
        if words[-1] not in ".?:":
            yield words.lower()


def idea_of(text: str) -> str:
    return text.partition("\n## The idea\n")[2].partition("\n## ")[0]


def page_of(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def lines(root: Path) -> str:
    """Returns a list of the terms, each with its meaning and the first step whose page prints the
    term in bold. Raises ToolError if a term is not in bold on any page, or if bold words have no
    definition."""
    terms = read_terms(root / "docs" / "glossary.toml")
    readmes = {name: (root / name / "README.md").read_text(encoding="utf-8")
               for name in published_steps(root) if (root / name / "README.md").is_file()}
    pages = {
        name: text + page_of(root / name / "measurements.md") for name, text in readmes.items()
    }
    defined = {form for term in terms for form in term.forms}
    for name, text in readmes.items():
        for words in bold(idea_of(text)):
            if words not in defined:
                raise ToolError(
                    f"{name}/README.md: '{words}' is in bold but not in docs/glossary.toml"
                )
    result = []
    for term in sorted(terms, key=lambda term: term.name.strip("`_-").lower()):
        where = next(
            (name for name, text in pages.items() if set(bold(text)) & set(term.forms)), None
        )
        if where is None:
            raise ToolError(f"docs/glossary.toml: '{term.forms[0]}' is not in bold in any step")
        code = "`" if re.search(r"^[_-]|^rsqrtf$", term.name) else ""
        result.append(f"- **{code}{term.name}{code}** ([step "
                      f"{number_of(where)}](../{where}/README.md)): {term.text}")
    return "\n".join(result)
