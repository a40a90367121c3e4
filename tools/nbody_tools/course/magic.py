"""Defines %%nbody_step for notebooks. It builds a step with the functions in the cell, runs and
validates it, and shows its time and a picture.

    %load_ext nbody_tools.course.magic

    %nbody_source 03 update_velocity       prints the source of a step or of one of its functions

    %%nbody_step 03 --systems 2 --bodies 1000 --steps 3
    __device__ void update_velocity(...) { ... }

A cell with a main() is a whole program; otherwise its functions replace those functions of the step
that have the same names. With a GPU and nvcc the program runs on the GPU; otherwise it is emulated
on the CPU, and its times mean nothing.
"""

from __future__ import annotations

import io
import json
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Optional

from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.course import rebuild
from nbody_tools.steps import find_step, step_folders

DEFAULT = "--systems 2 --bodies 1000 --steps 3"


def preset() -> str:
    """Returns cuda if there is a GPU and a compiler for it, otherwise cpu."""
    if shutil.which("nvcc") is None or shutil.which("nvidia-smi") is None:
        return "cpu"
    listed = subprocess.run(
        ["nvidia-smi", "-L"],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return "cuda" if "GPU " in listed.stdout else "cpu"


def run_program(
    program: Path, arguments: list[str], end: Optional[Path] = None
) -> tuple[dict[str, Any], str]:
    """Returns the program's record and its output."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record.json")
        words = [str(program), *arguments, "--quiet", "--json", str(record)]
        words += ["--output", str(end)] if end else []
        done = subprocess.run(
            words,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            errors="replace",
            check=False,
        )
        data = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    return data, done.stdout.strip()


def rate(record: dict[str, Any]) -> str:
    if record.get("interactions_per_second") is None:
        return "-"
    return f"{1e-9 * record['interactions_per_second']:.4g} G interactions/s"


def verdict(record: dict[str, Any], said: str) -> str:
    if not record:
        return f"it stopped without a result:\n{said}"
    if record["verdict"] == "pass":
        return "right: all checks pass"
    if record["verdict"] == "partial":
        return "\n  ".join(["all checks pass, some undecided:", *record.get("undecided", [])])
    gates = [f"  {gate}: {record['errors'][gate]:.3g}, "
             f"at most {record['limits'][gate]:.3g} is allowed"
             for gate in record.get("failed", [])]
    return "\n".join(
        [f"{record['verdict']}:", *gates, said] if said else [f"{record['verdict']}:", *gates]
    )


def table(yours: dict[str, Any], ours: dict[str, Any], step: str) -> str:
    lines = [f"{'':12} {'compute':>12}  rate"]
    for name, record in (("your cell", yours), (step[:6], ours)):
        if record:
            lines.append(f"{name:12} {1e3 * record['median']['compute']:9.3f} ms  {rate(record)}")
    if yours.get("backend") == "hostcuda":
        lines.append("(emulated on the CPU: these are not GPU times)")
    return "\n".join(lines)


def picture_of(state: Path, title: str) -> bytes:
    """Returns a PNG of the final positions seen from above. Needs no matplotlib backend."""
    from matplotlib.figure import Figure

    from nbody_tools.figures.colours import BLUE
    from nbody_tools.files.bodies import read_bodies

    bodies = read_bodies(state)
    figure = Figure(figsize=(4, 4), layout="constrained")
    axes = figure.subplots()
    positions = bodies.positions[0]
    axes.plot(positions[:, 0], positions[:, 1], ".", markersize=2, color=BLUE)
    axes.set(aspect="equal", title=title, xlabel="x", ylabel="y")
    png = io.BytesIO()
    figure.savefig(png, format="png")
    return png.getvalue()


def try_cell(line: str, cell: str, root: Path = ROOT) -> tuple[dict[str, Any], str, Optional[Path]]:
    """Runs the cell. Returns its program's record, the text to print and, if validation passed, a
    file with the final state."""
    words = shlex.split(line)
    if not words:
        raise ToolError(f"name a step, such as %%nbody_step 03 {DEFAULT}")
    step = find_step(words[0], step_folders(root))
    arguments = words[1:] or DEFAULT.split()
    build = rebuild.configure_build(root, preset() if not step.startswith("step00") else "cpu")
    rebuild.run(["cmake", "--build", str(build), "--target", step], root)
    folder = Path(tempfile.mkdtemp(prefix="nbody-cell-"))
    text = rebuild.with_functions(rebuild.source_of(step, root).read_text(encoding="utf-8"), cell)
    try:
        program = rebuild.build_as(step, text, build, folder, root=root)
    except Failed as error:
        return {}, f"it does not compile:\n{error}", None
    end = folder / "end.bin"
    yours, said = run_program(program, arguments, end)
    ours, _ = run_program(build / step / step, arguments)
    return (
        yours,
        "\n".join([verdict(yours, said), table(yours, ours, step)]),
        end if end.exists() else None,
    )


def nbody_step(line: str, cell: str) -> None:
    try:
        record, text, end = try_cell(line, cell)
    except ToolError as error:
        print(error)
        return
    print(text)
    if end is not None and record.get("verdict") in ("pass", "partial"):
        from IPython.display import Image, display

        display(Image(picture_of(end, f"{record['step'][:6]}, after {record['steps']} steps")))


def nbody_source(line: str) -> None:
    """Prints the source of a step or of one of its functions."""
    step, *names = line.split()
    text = rebuild.source_of(find_step(step, step_folders(ROOT))).read_text(encoding="utf-8")
    known = rebuild.functions(text)
    for name in names:
        if name not in known:
            print(f"{step} has no function '{name}'; it has {', '.join(known)}")
            return
    print("\n\n".join(text[slice(*known[name])] for name in names) if names else text)


def load_ipython_extension(ipython: Any) -> None:
    ipython.register_magic_function(nbody_step, "cell")
    ipython.register_magic_function(nbody_source, "line")
