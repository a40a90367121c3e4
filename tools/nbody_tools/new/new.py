"""Writes the folder of a new step. The folder is a copy of the parent step's: it builds and passes
its tests, and the places to edit are marked.

  ./nbody new step step17_mine --parent 03

The step is a draft (DRAFT in its CMakeLists.txt). It is built, tested and run like any other step,
but needs no page, picture or measurement. CONTRIBUTING.md says how a draft becomes a step.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from pathlib import Path

from nbody_tools.arguments import ROOT, ToolError, existing_folder
from nbody_tools.documents.documents import HEADINGS
from nbody_tools.steps import STEP_NAME, find_step, number_of, step_folders

SOURCES = ("nbody.c*", "*.h")
IDEA = "TODO: the idea in one line."
TO_WRITE = {
    "## The idea": "TODO, with a term in bold that docs/glossary.toml defines, and a diagram",
    "## Stop and predict": "TODO: two hypotheses that paper and pencil can decide between\n\n"
                           "<details><summary>Our prediction</summary>\n\nTODO\n\n</details>",
    "## Exercises": "1. **(10 min, try) TODO**",
}


def configure(p: argparse.ArgumentParser) -> None:
    step = p.add_subparsers(dest="what", required=True, metavar="step").add_parser(
        "step", help="start a draft of a step"
    )
    step.add_argument(
        "name", type=step_name, metavar="NAME", help="stepNN_words, such as step17_mine"
    )
    step.add_argument(
        "--parent",
        required=True,
        metavar="STEP",
        help="the step to copy, by name or number",
    )
    step.add_argument(
        "--root", type=existing_folder, default=ROOT, metavar="DIR", help="root of the repository"
    )


def step_name(text: str) -> str:
    if not re.fullmatch(r"step\d\d[a-z]?_[a-z0-9]+(_[a-z0-9]+)*", text) or not STEP_NAME.fullmatch(
        text
    ):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a name such as step17_mine or step03b_mine"
        )
    return text


def check_is_new(name: str, root: Path) -> None:
    for other in step_folders(root):
        if number_of(other) == number_of(name):
            raise ToolError(f"{other} already has the number {number_of(name)}; add a letter for a "
                            f"step between two others: step{number_of(name)[:2]}b_...")
    if (root / name).exists():
        raise ToolError(f"{name} already exists: nothing was written")


def build_call(name: str, parent: str, root: Path) -> str:
    """Returns the text of CMakeLists.txt, with DRAFT and the parent's flags and libraries."""
    text = (root / parent / "CMakeLists.txt").read_text(encoding="utf-8")
    call = re.search(rf"nbody_step\({parent}\b\s*([^)]*)\)", text)
    if call is None:
        raise ToolError(f"{parent}/CMakeLists.txt does not call nbody_step({parent} ...)")
    words = [word for word in call[1].split() if word != "DRAFT"]
    if "COMMON" in words:
        raise ToolError(
            f"{parent} runs on MPI ranks, so its CMakeLists.txt differs: copy the folder by hand"
        )
    return f"nbody_step({' '.join([name, 'DRAFT', *words])})\n"


def with_names(text: str, name: str, parent: str) -> str:
    """Returns the text of a copied file with the new step's name, its parent's name, and a mark
    where the new idea belongs."""
    text = re.sub(rf"^// {parent} -- .*$", f"// {name} -- {IDEA}", text, count=1, flags=re.M)
    text = re.sub(
        r"^// Parent: .*?\.(  +Run: )", rf"// Parent: {parent}.\1", text, count=1, flags=re.M
    )
    text = text.replace(parent, name).replace(f"Parent: {name}", f"Parent: {parent}")
    if ".parent" in text:
        return re.sub(r'\.parent = "\w+"', f'.parent = "{parent}"', text)
    return text.replace(f'.name = "{name}"', f'.name = "{name}", .parent = "{parent}"')


def readme(name: str, parent: str, source: str) -> str:
    sections = "\n\n".join(f"{heading}\n\n{TO_WRITE.get(heading, 'TODO')}"
                           for heading in HEADINGS)
    return (
        f"# Step {number_of(name)}: TODO\n\n"
        f"    build/cpu/{name}/{name} --systems 2 --bodies 500 --steps 3\n"
        f"    build/cuda/{name}/{name} --systems 32 --bodies 8192 --steps 20    # with a GPU\n\n"
        "**Question:** TODO\n**In one sentence:** TODO\n**You need** TODO\n**Time:** TODO\n\n"
        f"{sections}\n\n**Next:** TODO **More:** [measurements](measurements.md), "
        "[terms in bold](../docs/glossary.md),\n[answers](../docs/answers.md#TODO).\n\n"
        f"The change: `diff -u {parent}/{source} {name}/{source}`\n"
    )


def format_sources(folder: Path) -> None:
    """Formats the sources again if clang-format is installed, because the new name has changed the
    lengths of lines."""
    if program := shutil.which("clang-format"):
        subprocess.run([program, "-i", *folder.glob("nbody.c*"), *folder.glob("*.h")], check=False)


def write_step(name: str, parent: str, root: Path) -> list[str]:
    """Writes the folder of the new step; returns the places to edit."""
    check_is_new(name, root)
    call = build_call(name, parent, root)
    files = [file for pattern in SOURCES for file in sorted((root / parent).glob(pattern))]
    folder = root / name
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(call, encoding="utf-8")
    for file in files:
        text = with_names(file.read_text(encoding="utf-8"), name, parent)
        (folder / file.name).write_text(text, encoding="utf-8")
    format_sources(folder)
    (folder / "README.md").write_text(readme(name, parent, files[0].name), encoding="utf-8")
    return [f"{name}/{files[0].name}:1: the idea in one line, and a paragraph about it below",
            f"{name}/{files[0].name}: the kernels and simulate(); then .boundaries in main(), the "
            "sizes of tiles and blocks",
            f"{name}/README.md: the lesson, below the existing headings",
            f"{name}/CMakeLists.txt: remove DRAFT once the step has been measured on a GPU; "
            "./nbody documents --check then lists what is missing"]


def run(options: argparse.Namespace) -> int:
    parent = find_step(options.parent, step_folders(options.root))
    places = write_step(options.name, parent, options.root)
    print(f"{options.name}: a copy of {parent}, a draft. To edit:", *places, sep="\n  ")
    print(f"Next: ./nbody build {number_of(options.name)} {options.name}_test command_line_test && "
          f"ctest --test-dir build/cpu -L {options.name} -LE nightly")
    return 0
