"""Converts notebooks and, if requested, runs them: notebook_worker.py ROOT OUTPUT [--execute]
TEXT...

Needs an interpreter that has jupytext. With --execute, a %%nbody_step cell that contains "wrong on
purpose" must fail validation, and every other %%nbody_step cell must pass. Each of these cells must
print its errors and its counts, and must draw a picture. None may print an emulated time.
"""

import shutil
import sys
from pathlib import Path
from typing import Any, Iterator

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# This cell follows the title and the first paragraph of every notebook.
FIRST_CELL = """
REPOSITORY = ""  # on Colab: the address of a clone of this project

import pathlib
import subprocess
import sys

here = pathlib.Path.cwd()
places = (here, *here.parents, here / "nbody-steps")
root = next((place for place in places if (place / "nbody").is_file()), None)
if root is None:
    assert REPOSITORY, "put the address of a clone of this project into REPOSITORY"
    root = here / "nbody-steps"
    subprocess.run(["git", "clone", "--depth", "1", REPOSITORY, root], check=True)
    subprocess.run([root / "nbody", "setup"], check=True)
sys.path.insert(0, str(root / "tools"))
%load_ext nbody_tools.course.magic
"""
RIGHT, WRONG = "right: all checks pass", "wrong on purpose"
ERRORS, COUNTS = "acceleration_rms", "per thread"


def said(cell: Any) -> str:
    return "".join(output.get("text", "") for output in cell.get("outputs", []))


def has_gpu() -> bool:
    return shutil.which("nvidia-smi") is not None


def problems(notebook: Any) -> Iterator[str]:
    """Yields the problems found in an executed notebook."""
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.startswith("%%nbody_step")
    ]
    if not cells:
        yield "it has no cell with %%nbody_step"
    for cell in cells:
        if (RIGHT in said(cell)) == (WRONG in cell.source) or not said(cell):
            yield f"{cell.source.splitlines()[0]} printed: {said(cell) or 'nothing'}"
            continue
        if not any("image/png" in o.get("data", {}) for o in cell.outputs):
            yield f"{cell.source.splitlines()[0]} drew nothing"
        for words in ERRORS, COUNTS:
            if words not in said(cell):
                yield f"{cell.source.splitlines()[0]} printed nothing with '{words}'"
        if " ms" in said(cell) and not has_gpu():
            yield f"{cell.source.splitlines()[0]} printed an emulated time"


def main() -> int:
    root, output, *words = sys.argv[1:]
    import jupytext

    texts = [Path(word) for word in words if word != "--execute"]
    failed = 0
    for text in texts:
        title, read_first, rest = text.read_text(encoding="utf-8").split("\n\n", 2)
        notebook = jupytext.reads(
            f"{title}\n\n{read_first}\n\n```python{FIRST_CELL}```\n\n{rest}", fmt="md"
        )
        notebook.metadata = {"kernelspec": KERNEL}
        if "--execute" in words:
            from nbclient import NotebookClient

            NotebookClient(notebook, timeout=900, kernel_name="python3",
                           resources={"metadata": {"path": root}}).execute()
            for problem in problems(notebook):
                failed += 1
                print(f"{text.name}: {problem}")
        target = Path(output, text.with_suffix(".ipynb").name)
        jupytext.write(notebook, target)
        print(target)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
