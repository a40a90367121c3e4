"""Run by the interpreter that has jupytext: notebook_worker.py ROOT OUTPUT [--execute] TEXT...

A cell that says "wrong on purpose" must not come out right; every other %%nbody_step must.
"""

import sys
from pathlib import Path

RIGHT, WRONG = "right: all gates pass", "wrong on purpose"


def said(cell):
    return "".join(output.get("text", "") for output in cell.get("outputs", []))


def problems(notebook):
    """Of a notebook that was run."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.startswith("%%nbody_step")]
    if not cells:
        yield "it has no %%nbody_step"
    for cell in cells:
        if (RIGHT in said(cell)) == (WRONG in cell.source) or not said(cell):
            yield f"{cell.source.splitlines()[0]} came to: {said(cell) or 'nothing'}"
        elif WRONG not in cell.source and not any("image/png" in o.get("data", {}) for o in cell.outputs):
            yield f"{cell.source.splitlines()[0]} drew nothing"


def main():
    root, output, *words = sys.argv[1:]
    import jupytext

    texts = [Path(word) for word in words if word != "--execute"]
    failed = 0
    for text in texts:
        notebook = jupytext.read(text)
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
