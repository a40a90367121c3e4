"""The template of the report: placeholders become numbers, and every other number is an error.

The syntax is described at the top of docs/report.template.md.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from typing import Callable, Optional

from nbody_facts import FactError, Facts, Missing, Problem, Value
from nbody_table import seconds

WIDTH = 105
NOT_MEASURED = "*not measured*"
PLACEHOLDER = re.compile(r"\{([a-z][^{}\n]*)\}")
BLOCK = re.compile(r"\{(table|figure) (\w+)(\?)?\}")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INTERPRET = "<!-- interpret"
DEFINITION = re.compile(r"^ *(problem|machine|timeline) (\w+) = (.+?) *$", re.MULTILINE)
REFERENCE = re.compile(r"(?P<name>\w+)(?:\[(?P<key>[^\]]+)\])?(?P<rest>(?:\.[\w@ /]+?)*)")

# Numbers of the text that are no measurements. A number that belongs to a name (step03, float32)
# does not count as one.
ALLOWED = {
    "sizes of problems": r"32|256|1024|8192|16384|16,384|65536|65,536|262144|262,144|1,125,000|20|5|10",
    "small counts, steps and chapters": r"[0-9]|0[0-9]",
    "physics of the runs": r"0\.01|0\.05",
    "sizes of blocks, tiles and words": r"12|16|28|64|128|512",
    "repeats": r"30",
    "years and versions": r"20[0-2][0-9]",
}
ALLOWED_NUMBER = re.compile("|".join(f"(?:{pattern})" for pattern in ALLOWED.values()))
NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?:[eE][-+]?\d+)?")


@dataclass
class Rendered:
    text: str = ""
    problems: list[str] = field(default_factory=list)  # each fails a check
    missing: list[str] = field(default_factory=list)  # optional, and not there
    unwritten: int = 0  # marks of sentences that wait for the measurement


def definitions(template: str) -> tuple[dict[str, Problem], dict[str, str], dict[str, list[str]]]:
    """Lines `problem NAME = S x N x I`, `machine NAME = DEVICE` and `timeline FIGURE = RUN + RUN` in
    the comment at the top."""
    problems, machines, timelines = {}, {}, {}
    top = COMMENT.match(template)
    for kind, name, meaning in DEFINITION.findall(top.group(0) if top else ""):
        if kind == "machine":
            machines[name] = meaning
            continue
        if kind == "timeline":
            timelines[name] = meaning.split(" + ")
            continue
        sizes = meaning.split(" x ")
        if len(sizes) != 3 or not all(size.isdigit() for size in sizes):
            raise FactError(f"the template: problem {name}: '{meaning}' is not S x N x I")
        problems[name] = Problem(*map(int, sizes))
    return problems, machines, timelines


def literal_numbers(template: str, where: str) -> list[str]:
    """Numbers that are neither placeholders nor allowed, with their lines."""
    def blank(match: re.Match) -> str:
        return re.sub(r"[^\n]", " ", match.group(0))

    bare = PLACEHOLDER.sub(blank, COMMENT.sub(blank, template))
    found = []
    for line_number, line in enumerate(bare.splitlines(), start=1):
        for match in NUMBER.finditer(line):
            number = match.group(0).rstrip(".,")
            if not ALLOWED_NUMBER.fullmatch(number):
                found.append(f"{where}:{line_number}: the number {number} is no placeholder and not "
                             "in ALLOWED (tools/nbody_template.py)")
    return found


def render(template: str, where: str, facts: Facts,
           blocks: Callable[[str, str], Optional[str]]) -> Rendered:
    """`blocks(kind, name)` gives the text of a table or figure, or None if there is none."""
    result = Rendered(problems=literal_numbers(template, where))
    result.unwritten = template.count(INTERPRET)
    # Comments keep their newlines until the end, so that the numbers of lines stay right.
    bare = COMMENT.sub(lambda match: "\n" * match.group(0).count("\n"), template)
    lines = []
    for number, line in enumerate(bare.splitlines(), start=1):
        place = f"{where}:{number}"
        block = BLOCK.fullmatch(line.strip())
        if block:
            lines.append(_block(block, place, blocks, result))
        else:
            lines.append(PLACEHOLDER.sub(lambda m: _filled(m, place, facts, result), line))
    text = "\n".join(line.rstrip() for line in "\n".join(lines).splitlines())
    text = "\n\n".join(filled_paragraph(part) for part in re.split(r"\n{2,}", text.strip()))
    result.text = text + "\n"
    return result


def filled_paragraph(text: str) -> str:
    """Lines of prose have other lengths with numbers in them. Lists, tables and code stay."""
    if re.match(r"[A-Z*`]", text) is None:
        return text
    return textwrap.fill(text, width=WIDTH, break_long_words=False, break_on_hyphens=False)


def _block(match: re.Match, place: str, blocks: Callable[[str, str], Optional[str]],
           result: Rendered) -> str:
    kind, name, optional = match.groups()
    try:
        text = blocks(kind, name)
    except FactError as error:
        result.problems.append(f"{place}: {match.group(0)}: {error}")
        return NOT_MEASURED
    if text is None:
        (result.missing if optional else result.problems).append(
            f"{place}: {match.group(0)}: not measured")
        return NOT_MEASURED
    return text


def _filled(match: re.Match, place: str, facts: Facts, result: Rendered) -> str:
    body = match.group(1)
    optional = body.endswith("?")
    try:
        return evaluate(body.rstrip("?").strip(), facts)
    except Missing:
        (result.missing if optional else result.problems).append(
            f"{place}: {match.group(0)}: not measured")
    except (FactError, ValueError, ZeroDivisionError) as error:
        result.problems.append(f"{place}: {match.group(0)}: {error}")
    return NOT_MEASURED


def evaluate(body: str, facts: Facts) -> str:
    """REFERENCE [/ REFERENCE] [:FORMAT]"""
    expression, colon, wanted = body.rpartition(":")
    if not colon:
        expression, wanted = body, ""
    first, slash, second = expression.partition(" / ")
    value = lookup(first.strip(), facts)
    if slash:
        value = Value(value.number / lookup(second.strip(), facts).number, ".2f")
    return formatted(value.number, wanted or value.format)


def lookup(reference: str, facts: Facts) -> Value:
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise FactError(f"'{reference}' is no reference")
    name, key = match["name"], match["key"]
    parts = match["rest"].split(".")[1:]
    if name == "predicted" and key and len(parts) == 1:
        return facts.prediction(key, parts[0])
    if key or (name == "predicted"):
        raise FactError(f"'{reference}': should be predicted[ROW].COLUMN")
    if name == "published" and parts in (["citation"], ["machine"]):
        return Value(facts.published[parts[0]], "text")
    if name == "published" and len(parts) == 2:
        return facts.published_value(*parts)
    if name == "machine" and len(parts) == 2:
        return facts.machine(*parts)
    if name == "profile" and len(parts) == 3:
        return facts.profile(*parts)
    if len(parts) == 2:
        problem, _, devices = parts[0].partition("@")
        measured = facts.pick(name, problem, int(devices or 1))
        return facts.quantity(measured, parts[1])
    raise FactError(f"'{reference}' is no reference")


def plain(value: float) -> str:
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value)}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def formatted(value: object, wanted: str) -> str:
    if wanted == "text" or isinstance(value, str):
        return str(value)
    if wanted == "time":
        return seconds(value)
    if wanted == "percent":
        return f"{100 * value:.1f} %"
    if wanted == "change":  # of a ratio from 1
        return f"{100 * (value - 1):+.1f} %".replace("-", "−")
    return plain(value) if wanted == "number" else format(value, wanted)
