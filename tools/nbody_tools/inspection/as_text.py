"""Formats an inspection as text: one table per kernel, then the problems found."""

from __future__ import annotations

from typing import Iterable, Optional, Sequence

from nbody_tools.inspection.instructions import Operation, by_line, sums
from nbody_tools.inspection.ptx import Loop, PtxKernel
from nbody_tools.inspection.trace import ACCESSES, MEMORIES, Inspection, Kernel, Row
from nbody_tools.inspection.source_lines import Place, source_text
from nbody_tools.tables import aligned

WIDTH = 118
COLUMNS = ("line", "access", "bytes", "executions", "requests", "cost", "ideal", "", "source")
# A row gets a remark if its cost is at least this many times the ideal cost.
# Smaller ratios are tolerated, because one unaligned warp touches five sectors instead of four.
REMARK_FROM = 1.05
SHARE_OF_A_ROW = 0.01  # a line with a smaller share of a kernel's operations gets no row


def text_of(inspection: Inspection, interactions: Optional[float] = None) -> str:
    parts = [kernel_text(kernel, interactions) for kernel in inspection.kernels]
    if inspection.other_ptx:
        parts.append(
            "\n".join(
                [
                    "not launched, or launched through a variable",
                    *(f"  {line}" for line in of_ptx(inspection.other_ptx, bool(interactions))),
                ]
            )
        )
    parts += inspection.messages
    if inspection.exit_code:
        parts.append(f"The program exited with code {inspection.exit_code}. Findings until then:")
    if inspection.clean:
        parts.append("No problems found.")
    return "\n\n".join(parts)


def kernel_text(kernel: Kernel, interactions: Optional[float]) -> str:
    lines = [f"kernel {kernel.name}: {counted(kernel.launches, 'launch', 'launches')}, "
             f"{counted(kernel.blocks, 'block')}, {counted(kernel.threads, 'thread')}"]
    lines += [
        f"  {line}"
        for line in (*totals(kernel, interactions), *of_ptx(kernel.ptx, bool(interactions)))
    ]
    if not kernel.rows:
        lines.append("  accesses neither global nor shared memory")
    computed = worth_a_row(by_line(kernel.operations))
    for file in dict.fromkeys(
        [*(row.place.file for row in kernel.rows), *(place.file for place in computed)]
    ):
        lines += ["", f"  {file}"]
        if rows := [row for row in kernel.rows if row.place.file == file]:
            lines += table(rows)
        if there := [place for place in computed if place.file == file]:
            lines += ([""] if rows else []) + table_of_operations(
                {place: computed[place] for place in there}, kernel, interactions
            )
    return "\n".join(lines)


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def totals_of_run(kernel: Kernel) -> list[str]:
    """Returns lines with the numbers of the kernel's accesses and shuffles, counted per thread and,
    in brackets, per warp."""
    lines = []
    for memory in MEMORIES:
        counts = [(access, *(kernel.sum(quantity, memory, access)
                             for quantity in ("executions", "requests"))) for access in ACCESSES]
        if any(count for _, count, _ in counts):
            lines.append(f"{memory} memory: " + ", ".join(
                f"{access}s {count:,} ({requests:,} requests)"
                for access, count, requests in counts if count))
    if kernel.shuffles.get("requests"):
        lines.append(f"shuffles: {kernel.shuffles['executions']:,} "
                     f"({kernel.shuffles['requests']:,} by warps)")
    if kernel.loading_threads:
        lines.append(f"loads: by {counted(kernel.loading_threads, 'thread')} in "
                     f"{counted(kernel.loading_blocks, 'block')}, at most {kernel.most_loads:,} by "
                     "one thread")
    return lines


def totals(kernel: Kernel, interactions: Optional[float]) -> list[str]:
    lines = [] if interactions else totals_of_run(kernel)
    for memory in MEMORIES:
        counts = [(access, kernel.sum("executions", memory, access)) for access in ACCESSES]
        if interactions and any(count for _, count in counts):
            lines.append(f"{memory} memory, per interaction: " + ", ".join(
                f"{access}s {count / interactions:.4g}" for access, count in counts if count))
    unit = "interaction" if interactions else "thread"
    divisor = interactions or kernel.threads
    for of, found in sums(kernel.operations).items():
        lines.append(f"as written, per {unit}: {of}: " + ", ".join(
            f"{named(operation)} {count / divisor:.4g}" for operation, count in found.items()))
    return lines


def worth_a_row(lines: dict[Place, list[Operation]]) -> dict[Place, list[Operation]]:
    """Returns the lines with enough operations for a row; --json contains all lines."""
    counts = {place: sum(one.count for one in found) for place, found in lines.items()}
    least = SHARE_OF_A_ROW * sum(counts.values())
    return {place: found for place, found in lines.items() if counts[place] >= least}


def table_of_operations(lines: dict[Place, list[Operation]], kernel: Kernel,
                        interactions: Optional[float]) -> list[str]:
    unit = "per interaction" if interactions else "per thread"
    cells = [["line", f"as written, {unit}", "source"]]
    cells += [[str(place.line), in_words(found, interactions or kernel.threads), source_text(place)]
              for place, found in lines.items()]
    return [f"  {line}"[:WIDTH].rstrip() for line in aligned(cells, left=(1, -1))]


def named(operation: str) -> str:
    return operation.replace("_", " ")


def in_words(operations: Sequence[Operation], divisor: float) -> str:
    """Describes the operations. Mentions a type only if it is not float32, and a unit only if it
    is not threads."""
    parts = []
    for of, found in sums(operations).items():
        words = ", ".join(
            f"{named(operation)} {count / divisor:.3g}" for operation, count in found.items()
        )
        parts.append(words if of in ("float32", "threads", "conversion") else f"{of}: {words}")
    return "; ".join(parts)


def of_ptx(kernels: Iterable[PtxKernel], interacts: bool) -> list[str]:
    """Describes the kernels' PTX and its loops. If `interacts` is set, gives counts per square
    root, because an interaction computes one."""
    lines = []
    for ptx in kernels:
        lines.append(f"in PTX, {ptx.name}: {counted(sum(ptx.counts.values()), 'instruction')}")
        for loop in (interacts and [loop for loop in ptx.loops if loop.roots]) or ptx.loops:
            lines.append(
                f"  loop at lines {loop.lines[0]} to {loop.lines[1]}, {of_loop(loop, interacts)}"
            )
    return lines


def of_loop(loop: Loop, interacts: bool) -> str:
    by = loop.roots if interacts and loop.roots else 1
    unit = f"per square root, with {by} in a pass" if interacts and loop.roots else "per pass"
    return f"{unit}: " + ", ".join(
        f"{name} {count / by:.4g}" for name, count in loop.counts.items()
    )


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


LEGEND = """\
cost, ideal: sectors of 32 bytes (global) or wavefronts (shared) per request of a warp; ideal is the
cost if the same bytes were adjacent. executions: counted per thread. as written: operations of the
source, before any compiler changes them. There are no times, because this is not a GPU
(docs/inspect.md)."""
