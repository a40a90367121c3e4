"""Generates parts of course/teaching.md: hours, labs, and the tools' messages for typical
mistakes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from nbody_tools.arguments import ToolError
from nbody_tools.steps import number_of, published_steps
from nbody_tools.tables import ABSENT, markdown

LABS = Path("course") / "labs"
MISTAKES = Path("course") / "mistakes"


def labs(root: Path) -> list[tuple[str, dict]]:
    return [(file.parent.name, tomllib.loads(file.read_text(encoding="utf-8")))
            for file in sorted((root / LABS).glob("*/lab.toml"))]


def hours(root: Path) -> str:
    """Returns a table with one row per step: the time that the README states, and the labs."""
    rows = []
    for step in published_steps(root):
        text = (root / step / "README.md").read_text(encoding="utf-8")
        title = re.search(r"^# Step \w+: (.*)$", text, re.M)
        time = re.search(r"\*\*Time:\*\*\s+([^.;,]*)", text)
        if title is None or time is None:
            raise ToolError(f"{step}/README.md: has no title or no **Time:**")
        mine = [
            f"{name.partition('_')[0]}: {lab['title']} ({lab['minutes']} min)"
            for name, lab in labs(root)
            if lab.get("step") == step
        ]
        rows.append(
            [
                f"[{number_of(step)}](../{step}/README.md)",
                title.group(1),
                " ".join(time.group(1).split()),
                ", ".join(mine) or ABSENT,
            ]
        )
    return markdown(("step", "subject", "reading and exercises", "labs"), rows)


def mistake(name: str, root: Path, about: str = "") -> str:
    """Returns the first comment in the example called `name`, and one finding of the tools about
    this example: the first that contains a remedy and the text `about`."""
    source, said = (root / MISTAKES / f"{name}{ending}" for ending in (".cu", ".txt"))
    text = said.read_text(encoding="utf-8")
    comment = source.read_text(encoding="utf-8").splitlines()[0].removeprefix("// ")
    findings = re.split(r"\n(?=\S)", text.rstrip())
    first = next((f for f in findings if "To do:" in f and about in f), findings[0])
    lines = "\n".join(f"    {line}" for line in first.splitlines())
    return f"**{comment}** ([{source.name}](mistakes/{source.name}))\n\n{lines}"
