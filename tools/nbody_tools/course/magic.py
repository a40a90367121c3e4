"""Defines %%nbody_step for notebooks. This command builds a step with the functions in the cell,
runs and validates the program, and shows its errors, its counts and a picture next to those of the
unchanged step.

    %load_ext nbody_tools.course.magic

    %nbody_source 03 update_velocity       prints the source of a step or of one of its functions

    %%nbody_step 03 --systems 2 --bodies 1000 --steps 3
    __device__ void update_velocity(...) { ... }

A cell with a main() is a whole program. In any other cell, each function replaces the function of
the same name in the step. With a GPU and nvcc, the program runs on the GPU and is timed; otherwise
it is emulated on the CPU and is not timed. In both cases, the counts come from a traced run on the
CPU.
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
from nbody_tools.inspection.trace import Kernel, inspect_program
from nbody_tools.steps import find_step, step_folders
from nbody_tools.tables import aligned

DEFAULT = "--systems 2 --bodies 1000 --steps 3"
FINDINGS = 1  # most findings shown; the first usually causes the others


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
        return f"the program stopped without a result:\n{said}"
    if record["verdict"] == "pass":
        return "right: all checks pass"
    if record["verdict"] == "partial":
        return "\n  ".join(["all checks pass, some undecided:", *record.get("undecided", [])])
    failed = ", ".join(record.get("failed", []))
    return "\n".join(filter(None, [f"{record['verdict']}: {failed}", said]))


def number(value: Optional[float]) -> str:
    return "-" if value is None else f"{value:.3g}"


def errors(yours: dict[str, Any], ours: dict[str, Any], step: str) -> str:
    """Returns a table of the errors in all checks of your cell, next to the step's errors."""
    rows = [["check", "your cell", short(step), "limit", ""]]
    for name, value in yours.get("errors", {}).items():
        rows.append([name, number(value), number(ours.get("errors", {}).get(name)),
                     number(yours.get("limits", {}).get(name)),
                     "FAILS" if name in yours.get("failed", []) else ""])
    return "\n".join(aligned(rows, left=(0, 4))) if len(rows) > 1 else ""


def times(yours: dict[str, Any], ours: dict[str, Any], step: str) -> str:
    """Returns a table of times on a GPU, or an empty string if the runs were emulated, because
    emulated runs have no times."""
    rows = [["", "compute", "rate"]]
    rows += [[name, f"{1e3 * record['median']['compute']:.3f} ms", rate(record)]
             for name, record in (("your cell", yours), (short(step), ours))
             if record and record.get("backend") != "hostcuda"]
    return "\n".join(aligned(rows, left=(0,))) if len(rows) > 1 else ""


def counts(step: str, cell: str, arguments: list[str], folder: Path, root: Path) -> str:
    """Runs your cell and the step with tracing. Returns the counts of both, and the findings about
    your cell."""
    target = f"inspect_{step}"
    build = rebuild.configure_build(root, "cpu")
    rebuild.run(["cmake", "--build", str(build), "--target", target], root)
    traced = rebuild.build_as(step, cell, build, folder, root=root, target=target)
    words = [*arguments, "--validate", "off", "--quiet"]
    lines = []
    for name, program in (("your cell", traced), (short(step), build / step / target)):
        found = inspect_program(program, words)
        lines += [f"{name}, {kernel.name.partition('(')[0].rpartition('::')[2]}: {line}"
                  for kernel in found.kernels for line in per_thread(kernel)]
        if name == "your cell":
            lines += [first_line(message, folder / step) for message in found.messages[:FINDINGS]]
    return "\n".join(lines)


def per_thread(kernel: Kernel) -> list[str]:
    """Returns the number of loads, stores and barriers that a thread of the kernel executes."""
    parts = [f"{kernel.sum('executions', memory, access) / kernel.threads:.4g} {memory} {access}s"
             for memory in ("global", "shared") for access in ("load", "store")
             if kernel.sum("executions", memory, access)]
    if kernel.barriers:
        parts.append(f"{kernel.barriers / kernel.blocks:.4g} barriers")
    return [f"per thread {', '.join(parts)}"] if parts else []


def first_line(message: str, folder: Path) -> str:
    """Returns the first line of a finding. Its line numbers refer to the whole program, not to the
    cell."""
    line = message.splitlines()[0].removeprefix("hostcuda: ").removeprefix("ERROR: ")
    return line.replace(f"{folder}/", "")


def short(step: str) -> str:
    return step.partition("_")[0]


def picture_of(states: dict[str, Path]) -> bytes:
    """Returns a PNG of the positions in each file, seen from above, side by side and with the same
    axes. Needs no matplotlib backend."""
    from matplotlib.figure import Figure

    from nbody_tools.figures.colours import BLUE
    from nbody_tools.files.bodies import FileError, read_bodies

    figure = Figure(figsize=(4 * len(states), 4.2), layout="constrained")
    plots = figure.subplots(1, len(states), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (title, state) in zip(plots, states.items()):
        try:
            positions = read_bodies(state).positions[0]
            axes.plot(positions[:, 0], positions[:, 1], ".", markersize=2, color=BLUE)
        except FileError as error:
            title += f"\n{str(error).rpartition(': ')[2]}"
        axes.set(aspect="equal", title=title, xlabel="x", ylabel="y")
    png = io.BytesIO()
    figure.savefig(png, format="png")
    return png.getvalue()


def try_cell(line: str, cell: str, root: Path = ROOT
             ) -> tuple[dict[str, Any], str, dict[str, Path]]:
    """Runs the cell and the step. Returns the record of the cell's program, the text to print, and
    a dictionary that maps titles to files. Each file has the final state of a program, even if the
    state fails validation."""
    words = shlex.split(line)
    if not words:
        raise ToolError(f"the first argument must be a step, as in %%nbody_step 03 {DEFAULT}")
    step = find_step(words[0], step_folders(root))
    arguments = words[1:] or DEFAULT.split()
    build = rebuild.configure_build(root, preset() if not step.startswith("step00") else "cpu")
    rebuild.run(["cmake", "--build", str(build), "--target", step], root)
    folder = Path(tempfile.mkdtemp(prefix="nbody-cell-"))
    text = rebuild.with_functions(rebuild.source_of(step, root).read_text(encoding="utf-8"), cell)
    try:
        program = rebuild.build_as(step, text, build, folder, root=root)
    except Failed as error:
        return {}, f"it does not compile:\n{error}", {}
    ends = {"your cell": folder / "end.bin", short(step): folder / "end_of_step.bin"}
    yours, said = run_program(program, arguments, ends["your cell"])
    ours, _ = run_program(build / step / step, arguments, ends[short(step)])
    parts = [verdict(yours, said), errors(yours, ours, step), times(yours, ours, step)]
    if not step.startswith("step00"):
        try:
            parts.append(counts(step, text, arguments, folder / "traced", root))
        except ToolError as error:
            parts.append(f"nothing could be counted: {error}")
    return (yours, "\n\n".join(filter(None, parts)),
            {title: file for title, file in ends.items() if file.exists()})


def nbody_step(line: str, cell: str) -> None:
    try:
        record, text, ends = try_cell(line, cell)
    except ToolError as error:
        print(error)
        return
    print(text)
    if ends:
        from IPython.display import Image, display

        failed = "" if record.get("verdict") in ("pass", "partial") else " (fails)"
        after = f", after {record['steps']} steps" if record else ""
        titles = {f"{title}{after}{failed if title == 'your cell' else ''}": file
                  for title, file in ends.items()}
        display(Image(picture_of(titles), alt=f"The bodies from above: {', '.join(titles)}"))


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
