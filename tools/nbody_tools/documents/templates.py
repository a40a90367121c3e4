"""Renders templates, and the marked places in documents, with Jinja2. Reports an error for an
unknown name, and for a number without a measurement unless the template marks it as optional."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Optional

import jinja2

from nbody_tools.arguments import ToolError
from nbody_tools.records.facts import PlacedError, Value

WIDTH = 105
ENDING = ".template.md"
MEASUREMENTS = "measurements"  # contains docs/measurements/STEP.template.md
# Numbers that may be typed in the report's text, because they are not measurements. A number that
# is part of a name (step03, float32) does not count.
ALLOWED = {
    "sizes of problems": r"32|256|1024|8192|16384|16,384|65536|65,536|262144|262,144|1,125,000|"
                         r"20|5|10",
    "small counts, steps and chapters": r"[0-9]|0[0-9]|1[0-3]",
    "physics of the runs": r"0\.01|0\.05",
    "sizes of blocks, tiles and words": r"12|16|28|64|128|512",
    "repeats": r"30",
    "years and versions": r"20[0-2][0-9]",
}
ALLOWED_NUMBER = re.compile("|".join(f"(?:{pattern})" for pattern in ALLOWED.values()))
NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?:[eE][-+]?\d+)?")
# The README of a step may contain typed sizes, but not typed times and rates.
MEASUREMENT = re.compile(
    NUMBER.pattern + r" ?(?:[nuµm]?s|G/s|G interactions/s|[GT]FLOP/s)(?![\w/])"
)
# A place in a document without a template: <!-- {{ expression }} -->its last value<!-- end -->
PLACE = re.compile(r"(<!-- (\{\{[^}]*\}\}) -->\n?)(?:(?!<!-- \{\{).)*?(\n?<!-- end -->)", re.DOTALL)
HALF_OF_A_PLACE = re.compile(r"<!-- (?:\{\{.*?|end) -->")
# At these positions, Markdown would treat a place as an HTML block, or a | in the place as the end
# of a cell.
MISPLACED = re.compile(r"(?:[ >*-]*(?:\d+\. +)?|\|.*)(?=<!-- \{\{.*\}\} -->.)")
MARKUP = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
CODE = re.compile(r"^```.*?^```|^    [^\n]*|`[^`\n]*`", re.DOTALL | re.MULTILINE)


@dataclass
class Rendered:
    text: str = ""
    problems: list[str] = field(default_factory=list)  # messages; each makes --check fail
    missing: list[str] = field(default_factory=list)  # optional numbers without a measurement
    written: list[str] = field(default_factory=list)  # documents that were written


def step_of(template: Path) -> str:
    """Returns the step that a document describes, or else the name of the document's directory."""
    if template.parent.name == MEASUREMENTS:
        return template.name.removesuffix(ENDING)
    return template.parent.name


def document_of(template: Path) -> Path:
    """Returns the document that a template renders. A document with marked places is its own
    template; a step's measurements are written to the step's folder."""
    if template.parent.name == MEASUREMENTS:
        return template.parents[2] / step_of(template) / "measurements.md"
    return template.with_name(template.name.replace(ENDING, ".md"))


def is_template(file: Path) -> bool:
    return file.name.endswith(ENDING) or PLACE.search(file.read_text(encoding="utf-8")) is not None


def shaped(form: str) -> Any:
    """Returns a filter that sets the format of a value, as in {{ (a / b) | change }}."""
    return lambda value: replace(value if isinstance(value, Value) else Value(value), format=form)


def digits(value: Value, count: int) -> Value:
    """Rounds a value to `count` significant digits; a time keeps its unit."""
    kind = value.format.partition(":")[0] if isinstance(value, Value) else "number"
    return shaped(f"{kind if kind == 'time' else 'number'}:{count}")(value)


def in_unit(unit: str, scale: float) -> Any:
    """Returns a filter that formats a time in a unit: {{ this.systems.compute | milliseconds(4)
    }}."""
    def filtered(value: Value, count: int = 3) -> Value:
        if value.content is None:
            return value
        return replace(value, content=f"{Value(scale * value.number, f'number:{count}')} {unit}")
    return filtered


FILTERS = {
    "digits": digits, "fixed": lambda value, count: shaped(f".{count}f")(value),
    "percent": shaped("percent"), "change": shaped("change"), "time": shaped("time"),
    "seconds": in_unit("s", 1), "milliseconds": in_unit("ms", 1e3),
    "format": lambda value, form: shaped(form)(value),
    "optional": lambda value: replace(value, optional=True),
}


def render(template: Path, root: Path, words: dict[str, Any]) -> Rendered:
    """Renders a template or a document with marked places; `words` contains the names that the
    template may use."""
    where = str(template.relative_to(root))
    result = Rendered()

    def written(value: Any) -> str:
        if isinstance(value, Value) and value.content is None:
            (result.missing if value.optional else result.problems).append(
                f"{where}:{line_now()}: {value.name} is not measured")
        return str(value)

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, finalize=written,
                                     trim_blocks=True, lstrip_blocks=True, autoescape=False)
    environment.filters.update(FILTERS)
    figures = os.path.relpath(root / "docs" / "figures", document_of(template).parent)
    words = {**words, "figure": lambda name, text="": figure(root, figures, name, text),
             "diagram": lambda name, text: figure(root, figures, f"diagrams/{name}", text)}

    def rendered(source: str) -> Optional[str]:
        try:
            return environment.from_string(source).render(words)
        except jinja2.TemplateSyntaxError as error:
            result.problems.append(f"{where}:{error.lineno}: {error.message}")
        except PlacedError as error:
            result.problems += str(error).splitlines()
        except (jinja2.UndefinedError, ToolError, TypeError, ZeroDivisionError) as error:
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                     if frame.filename == "<template>"]
            result.problems.append(f"{where}:{lines[-1] if lines else 1}: {error}")
        return None

    def written_again(place: re.Match) -> str:
        line = place.string.count("\n", 0, place.start())  # for the line numbers in messages
        text = rendered("\n" * line + place[2])
        alone = place[1].endswith("\n") and place[3].startswith("\n")
        if text is not None and "\n" in text.strip("\n") and not alone:
            result.problems.append(f"{where}:{line + 1}: the text of this place has several lines: "
                                   "write its two marks on lines of their own")
            return place[0]
        return place[0] if text is None else place[1] + text.strip("\n") + place[3]

    source = template.read_text(encoding="utf-8")
    if not template.name.endswith(ENDING):
        result.problems += wrong_places(source, where)
        result.text = filled(PLACE.sub(written_again, source))
    elif (text := rendered(source)) is not None:
        source_of_it = os.path.relpath(template, document_of(template).parent)
        result.text = (f"<!-- Generated from {source_of_it}: change that, not this. -->\n\n"
                       + filled(text))
    return result


def figure(root: Path, folder: str, name: str, text: str) -> Value:
    """Returns a link to a picture in docs/figures/, relative to the document's folder."""
    files = [root / "docs" / "figures" / f"{name}.{ending}" for ending in ("svg", "png")]
    there = any(file.is_file() for file in files)
    ending = "svg" if files[0].is_file() else "png"
    link = f"![{text or name.replace('_', ' ')}]({folder}/{name}.{ending})"
    return Value(link if there else None, "text", f"figure('{name}')")


def line_now() -> int:
    """Returns the number of the template line that Jinja2 is rendering, from its stack frame."""
    frame: Optional[FrameType] = sys._getframe()
    while frame is not None and "__jinja_template__" not in frame.f_globals:
        frame = frame.f_back
    if frame is None:
        raise RuntimeError("no template is being rendered")
    return frame.f_globals["__jinja_template__"].get_corresponding_lineno(frame.f_lineno)


def filled(text: str) -> str:
    """Rewraps prose, because inserted numbers change line lengths. Keeps lists, tables and code."""
    parts = re.split(r"(^```.*?^```$|^<!--.*?-->$)", text.strip(), flags=re.DOTALL | re.MULTILINE)
    parts[::2] = [
        "\n\n".join(map(filled_paragraph, re.split(r"\n{2,}", part))) for part in parts[::2]
    ]
    return "\n".join(line.rstrip() for line in "".join(parts).split("\n")) + "\n"


def filled_paragraph(text: str) -> str:
    lines = text.strip("\n").split("\n")
    if not re.match(r"[A-Z`]|\*\S", lines[0]) or any(
        re.match(r"[-#|>]|1\. | |\* ", line) for line in lines
    ):
        return text
    # Markdown treats a comment at the start of a line as an HTML block.
    # Therefore no line may break before a place.
    glued = re.sub(
        rf"\s?{PLACE.pattern}",
        lambda place: re.sub(r"\s", "\0", place[0]),
        text.strip("\n"),
        flags=re.DOTALL,
    )
    words = textwrap.fill(glued, width=WIDTH, break_long_words=False, break_on_hyphens=False)
    return text.replace(text.strip("\n"), words.replace("\0", " "))


def without(text: str, *patterns: re.Pattern) -> str:
    """Replaces matches with blanks, so that the following lines keep their numbers."""
    for pattern in patterns:
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    return text


def wrong_places(document: str, where: str) -> list[str]:
    halves = [f"{where}:{line}: '{half}' is one half of a place, and the other half is missing"
              for line, text in enumerate(without(document, PLACE).splitlines(), start=1)
              for half in HALF_OF_A_PLACE.findall(text)]
    return halves + [
        f"{where}:{line}: a place can neither begin a line nor be in a row of a table"
        for line, text in enumerate(document.splitlines(), start=1)
        if MISPLACED.match(text)
    ]


def literal_numbers(template: str, where: str) -> list[str]:
    """Reports numbers in the report's template that are neither filled in nor in ALLOWED."""
    return [f"{where}:{line}: the number {number} is neither filled in nor in ALLOWED "
            "(documents/templates.py)"
            for line, text in enumerate(without(template, MARKUP).splitlines(), start=1)
            for number in (match.group(0).rstrip(".,") for match in NUMBER.finditer(text))
            if not ALLOWED_NUMBER.fullmatch(number)]


def typed_measurements(template: str, where: str) -> list[str]:
    """Reports times and rates that were typed into a step's README, outside code."""
    return [
        f"{where}:{line}: '{match.group(0)}' is typed in; times and rates must come from records"
        for line, text in enumerate(without(template, PLACE, MARKUP, CODE).splitlines(), start=1)
        for match in MEASUREMENT.finditer(text)
    ]
