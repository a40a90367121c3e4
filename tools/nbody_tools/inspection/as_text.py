"""An inspection as text: a table per kernel, then what is wrong."""

from __future__ import annotations

from typing import Optional, Sequence

from nbody_tools.inspection.trace import ACCESSES, MEMORIES, Inspection, Kernel, Row
from nbody_tools.inspection.source_lines import source_text
from nbody_tools.tables import aligned

WIDTH = 118
COLUMNS = ("line", "access", "bytes", "executions", "requests", "cost", "ideal", "", "source")
# Worse than this is worth a remark: five sectors where four would do is one unaligned warp.
REMARK_FROM = 1.05


def text_of(inspection: Inspection, interactions: Optional[float] = None) -> str:
    parts = [kernel_text(kernel, interactions) for kernel in inspection.kernels]
    parts += inspection.messages
    if inspection.exit_code:
        parts.append(f"The program ended with exit code {inspection.exit_code}: this is what it did until then.")
    if inspection.clean:
        parts.append("Nothing wrong was seen.")
    return "\n\n".join(parts)


def kernel_text(kernel: Kernel, interactions: Optional[float]) -> str:
    lines = [f"kernel {kernel.name}: {counted(kernel.launches, 'launch', 'launches')}, "
             f"{counted(kernel.blocks, 'block')}, {counted(kernel.threads, 'thread')}"]
    if not kernel.rows:
        return f"{lines[0]}\n  accesses neither global nor shared memory"
    if interactions:
        lines += [f"  {line}" for line in per_interaction(kernel, interactions)]
    for file in dict.fromkeys(row.place.file for row in kernel.rows):
        lines += ["", f"  {file}"]
        lines += table([row for row in kernel.rows if row.place.file == file])
    return "\n".join(lines)


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def per_interaction(kernel: Kernel, interactions: float) -> list[str]:
    lines = []
    for memory in MEMORIES:
        counts = [(access, kernel.sum("executions", memory, access)) for access in ACCESSES]
        if any(count for _, count in counts):
            lines.append(f"{memory} memory, per interaction: " + ", ".join(
                f"{access}s {count / interactions:.4g}" for access, count in counts if count))
    return lines


def table(rows: Sequence[Row]) -> list[str]:
    cells = [list(COLUMNS)]
    for row in rows:
        cells.append([str(row.place.line), f"{row.memory} {row.access}", str(row.bytes),
                      f"{row.executions:,}", f"{row.requests:,}", f"{row.cost_of_request:.2f}",
                      f"{row.ideal_of_request:.2f}", remark(row), source_text(row.place)])
    return [f"  {line}"[:WIDTH].rstrip() for line in aligned(cells, left=(1, -2, -1))]


def remark(row: Row) -> str:
    if row.cost < REMARK_FROM * row.ideal_cost:
        return ""
    if row.memory == "shared":
        return f"{row.cost / row.ideal_cost:.2g}-way conflict"
    return f"{100 * row.ideal_cost / row.cost:.0f} % used"


LEGEND = """cost, ideal: sectors of 32 bytes (global) or wavefronts (shared) per request of a warp; ideal is what the
same bytes would cost side by side. executions: by threads. No times: this is not a GPU (docs/inspect.md)."""
