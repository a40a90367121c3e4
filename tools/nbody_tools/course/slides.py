"""Writes slides for every step, from the text and pictures of its README.

  ./nbody course slides                   writes build/slides/: a page per step, index.html with
                                          links to these pages, and slides.md for Marp
  ./nbody course slides --output DIR      writes them to DIR

The pages need no network. Arrow keys and clicks turn the slides; `p` prints two slides per sheet.
"""

from __future__ import annotations

import argparse
import base64
import html
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from nbody_tools.arguments import ROOT, existing_folder, write_whole_file
from nbody_tools.course.glossary import BOLD, Term, bold, idea_of, read_terms
from nbody_tools.design.tokens import style_sheet
from nbody_tools.steps import number_of, published_steps, what_a_step_adds

ROOM = 9  # most lines of bullets on a slide
LETTERS = 62  # most letters per line
CODE_LINES = 22
PAGE = (
    (Path(__file__).parent / "slides.html")
    .read_text(encoding="utf-8")
    .replace("{{tokens}}", style_sheet())
)


@dataclass(frozen=True)
class Slide:
    title: str
    bullets: tuple[str, ...] = ()
    code: str = ""
    picture: Optional[Path] = None


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2])) | {"": parts[0]}


def pictures(text: str, page: Path) -> list[Path]:
    return [(page.parent / name).resolve() for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)]


def plain(text: str) -> str:
    """Returns the words of Markdown text on one line, without link targets and comments."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def sentence(text: str) -> str:
    """Returns the first sentence, because a slide has no room for more."""
    return re.split(r"(?<=[.?])\s+(?=[A-Z`*])", plain(text), maxsplit=1)[0]


def items(text: str) -> list[str]:
    return [match.group(1) for match in re.finditer(r"^(?:\d+\.|-) (.*(?:\n  +\S.*)*)", text, re.M)]


def new_terms(step: str, readmes: dict[str, str], terms: list[Term]) -> list[Term]:
    """Returns the terms that this step's README, but no earlier README, prints in bold."""
    before = {words for name, text in readmes.items() if name < step for words in bold(text)}
    mine = [words for words in bold(idea_of(readmes[step]))]
    return [next(t for t in terms if words in t.forms) for words in dict.fromkeys(mine)
            if words not in before and any(words in t.forms for t in terms)]


def slides_of(step: str, root: Path, readmes: dict[str, str], terms: list[Term]) -> list[Slide]:
    page = root / step / "README.md"
    text = sections(readmes[step])
    measured = page.with_name("measurements.md")
    text |= sections(measured.read_text(encoding="utf-8")) if measured.is_file() else {}
    title = re.search(r"^# (.*)$", readmes[step], re.M).group(1)  # type: ignore[union-attr]
    learn = re.search(r"\*\*You will learn\*\*(.*?)\*\*You need\*\*", readmes[step], re.S)
    made = [
        Slide(
            title,
            (
                what_a_step_adds(step, root),
                "You will learn " + plain(learn.group(1)) if learn else "",
            ),
        )
    ]
    new = new_terms(step, readmes, terms)
    made += listed("Terms", [f"**{t.name}**: {sentence(t.text)}" for t in new])
    made += [Slide("The idea", picture=picture) for picture in pictures(text["The idea"], page)]
    for block in re.findall(r"^```(?:diff|cpp)\n(.*?)^```", text["What changed"], re.M | re.S):
        made.append(Slide("What changed", code="\n".join(block.splitlines()[:CODE_LINES])))
    made.append(Slide("Predict it first", (
        "How many interactions per second, and why? Write down a number and the reason.",
        "What will limit the rate: instructions, memory, idle SMs or the host?")))
    if "Predicted" in text:
        made.append(Slide("What we predicted", (plain(text["Predicted"]),)))
    made += [Slide("Measured", picture=picture) for picture in pictures(text["Measured"], page)]
    counted = [sentence(item) for item in items(text["What the profiler says"])]
    made += listed("What the profiler says", counted)
    made += [
        Slide("What the profiler says", picture=p)
        for p in pictures(text["What the profiler says"], page)
    ]
    asked = [
        sentence(item) + " " + " ".join(plain(item).split(". ", 2)[1:2])
        if BOLD.match(item)
        else sentence(item)
        for item in items(text["Exercises"])
    ]
    return made + listed("Exercises", asked)


def listed(title: str, bullets: list[str]) -> list[Slide]:
    """Distributes the bullets over as many slides as they need, all with the same title."""
    made: list[list[str]] = []
    room = 0.0
    for bullet in bullets:
        lines = 0.4 + math.ceil(len(re.sub(r"[*`]", "", bullet)) / LETTERS)
        if lines > room:
            made.append([])
            room = ROOM
        made[-1].append(bullet)
        room -= lines
    return [Slide(title, tuple(some)) for some in made]


def as_html(text: str) -> str:
    """Converts Markdown's bold and code to HTML."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text))


def embedded(picture: Path) -> str:
    if picture.suffix == ".svg":
        return picture.read_text(encoding="utf-8")
    data = base64.b64encode(picture.read_bytes()).decode()
    return f'<img alt="{picture.stem.replace("_", " ")}" src="data:image/png;base64,{data}">'


def coloured(code: str) -> str:
    """Colours the lines of a diff."""
    kinds = {"+": "new", "-": "old"}
    return "\n".join(
        f'<span class="{kinds.get(line[:1], "same")}">{html.escape(line, quote=False)}</span>'
        for line in code.splitlines()
    )


def page_of(step: str, slides: list[Slide]) -> str:
    made = []
    for k, slide in enumerate(slides):
        body = "".join(f"<li>{as_html(bullet)}</li>" for bullet in slide.bullets if bullet)
        body = f"<ul>{body}</ul>" if body else ""
        body += f"<pre>{coloured(slide.code)}</pre>" if slide.code else ""
        body += f"<figure>{embedded(slide.picture)}</figure>" if slide.picture else ""
        level = "h1" if k == 0 else "h2"
        made.append(f"<section><{level}>{as_html(slide.title)}</{level}>{body}</section>")
    return PAGE.replace("{{title}}", html.escape(step)).replace("{{slides}}", "\n".join(made))


def marp(decks: dict[str, list[Slide]], folder: Path) -> str:
    made = []
    for slides in decks.values():
        for k, slide in enumerate(slides):
            lines = [f"{'#' if k == 0 else '##'} {slide.title}", ""]
            lines += [f"- {bullet}" for bullet in slide.bullets if bullet]
            lines += ["```diff", slide.code, "```"] if slide.code else []
            if slide.picture:
                lines.append(f"![bg contain]({os.path.relpath(slide.picture, folder)})")
                lines[0] = f"<!-- {slide.title} -->"
            made.append("\n".join(lines))
    return "---\nmarp: true\npaginate: true\n---\n\n" + "\n\n---\n\n".join(made) + "\n"


def contents(decks: dict[str, list[Slide]]) -> str:
    """Returns a page with a link to each deck."""
    links = [f'<li><a href="{number_of(step)}.html">{html.escape(slides[0].title)}</a> '
             f"({len(slides)} slides)</li>" for step, slides in decks.items()]
    style = "body { margin: 2rem auto; max-width: var(--measure); padding: 0 1rem; " \
            "font: 18px/1.8 var(--font); color: var(--ink); background: var(--page); } " \
            "a { color: var(--link); }"
    return "\n".join(
        ['<!doctype html>', '<html lang="en"><head><meta charset="utf-8">',
         '<meta name="viewport" content="width=device-width, initial-scale=1">',
         "<title>Slides of the steps</title>", f"<style>\n{style_sheet()}{style}</style></head>",
         "<body><main><h1>Slides of the steps</h1>", "<ul>", *links, "</ul>",
         "<p>Arrow keys and clicks turn the slides; p prints two slides per sheet.</p>",
         "</main></body></html>", ""])


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--output",
        type=Path,
        default=ROOT / "build" / "slides",
        metavar="DIR",
        help="[build/slides]",
    )
    p.add_argument(
        "--root", type=existing_folder, default=ROOT, metavar="DIR", help="root of the repository"
    )


def write(root: Path, output: Path) -> list[Path]:
    readmes = {
        step: (root / step / "README.md").read_text(encoding="utf-8")
        for step in published_steps(root)
    }
    terms = read_terms(root / "docs" / "glossary.toml")
    decks = {step: slides_of(step, root, readmes, terms) for step in readmes}
    written = []
    for step, slides in decks.items():
        path = output / f"{number_of(step)}.html"
        write_whole_file(path, page_of(step, slides))
        written.append(path)
    write_whole_file(output / "index.html", contents(decks))
    write_whole_file(output / "slides.md", marp(decks, output))
    return [*written, output / "index.html", output / "slides.md"]


def run(options: argparse.Namespace) -> int:
    for path in write(options.root.resolve(), options.output):
        print(path)
    return 0
