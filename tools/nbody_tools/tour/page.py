"""The page that a tour leaves: plain HTML, one style sheet inside, images beside it."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

from nbody_tools.steps import Outcome, what_a_step_adds
from nbody_tools.tables import COLUMNS, notes, rows

STYLE = """
body { font: 17px/1.55 system-ui, sans-serif; color: #222; background: #fff; margin: 2em auto;
       max-width: 68em; padding: 0 1.2em; }
h1 { font-size: 1.8em; margin-bottom: 0.2em; } h2 { font-size: 1.3em; margin-top: 2em; }
figure { margin: 1.5em 0; } img { max-width: min(100%, 60em); height: auto; }
figcaption { color: #444; max-width: 50em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.84em; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35em 0.6em; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.words { min-width: 13em; }
tr.bad td { background: #fdeee6; }
.failed { border-left: 5px solid #d55e00; background: #fdeee6; padding: 0.7em 1em; }
.note { color: #555; font-size: 0.9em; }
"""

NUMBERS = range(1, len(COLUMNS) - 1)  # all but the step and the verdict


@dataclass
class Picture:
    title: str
    text: str
    image: str  # relative to the page; "" when there is none
    failure: str = ""


@dataclass
class Section:
    title: str
    parts: list[str] = field(default_factory=list)  # HTML


def text(words: str) -> str:
    return html.escape(words)


def paragraph(words: str, kind: str = "") -> str:
    return f'<p class="{kind}">{text(words)}</p>' if kind else f"<p>{text(words)}</p>"


def picture(shown: Picture) -> str:
    heading = f"<h3>{text(shown.title)}</h3>"
    if shown.failure:
        return heading + paragraph(shown.failure, "failed")
    return (f'{heading}<figure><img src="{html.escape(shown.image, quote=True)}" '
            f'alt="{html.escape(shown.title, quote=True)}">'
            f"<figcaption>{text(shown.text)}</figcaption></figure>")


def image(path: str, description: str) -> str:
    return (f'<figure><img src="{html.escape(path, quote=True)}" '
            f'alt="{html.escape(description, quote=True)}"></figure>')


def table(outcomes: Sequence[Outcome], root: Path) -> str:
    headings = [COLUMNS[0], "what it adds", *COLUMNS[1:]]
    lines = ["<tr>" + "".join(f'<th class="number">{text(h)}</th>' if i - 1 in NUMBERS and i > 1
                              else f"<th>{text(h)}</th>" for i, h in enumerate(headings)) + "</tr>"]
    for outcome, cells in zip(outcomes, rows(outcomes)):
        columns = [f"<td>{text(cells[0])}</td>",
                   f'<td class="words">{text(what_a_step_adds(outcome.step, root))}</td>']
        columns += [f'<td class="number">{text(cells[i])}</td>' for i in NUMBERS]
        columns.append(f"<td>{text(cells[-1])}</td>")
        kind = "" if outcome.good else ' class="bad"'
        lines.append(f"<tr{kind}>{''.join(columns)}</tr>")
    return ('<div class="wide"><table>' + "\n".join(lines) + "</table></div>"
            + "".join(paragraph(line, "note") for line in notes(outcomes)))


def page(title: str, failures: Sequence[str], sections: Sequence[Section]) -> str:
    parts = [f"<h1>{text(title)}</h1>"]
    if failures:
        items = "".join(f"<li>{text(failure)}</li>" for failure in failures)
        parts.append(f'<div class="failed"><strong>Not everything ran as it should:</strong>'
                     f"<ul>{items}</ul></div>")
    for section in sections:
        parts += [f"<h2>{text(section.title)}</h2>", *section.parts]
    body = "\n".join(parts)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{text(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n"
            "</body></html>\n")
