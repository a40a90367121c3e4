"""Deliberately wrong programs for the assignment family "transpose". Each one is a list of edits to
a reference solution."""

from __future__ import annotations

from nbody_tools.assignments.families.transpose import COMPONENTS, ORDERS
from nbody_tools.assignments.family import Wrong

PLACE = "__device__ size_t place("


def wrong(choice: dict[str, str]) -> list[Wrong]:
    row = ORDERS[choice["order"]][1]
    other = "count - 1 - i" if choice["order"] == "forward" else "i"
    is_padded = choice["avoid"] == "padding"
    column = "threadIdx.x" if is_padded else "column_of(k, threadIdx.x)"
    from_tile = f"tile[threadIdx.x][{'k' if is_padded else 'column_of(threadIdx.x, k)'}];"
    to_zero = "".join(f"  own{part} *= 0;\n" for part in COMPONENTS[choice["element"]])
    made = [
        Wrong("no_barrier", "threads read a tile that others have not filled",
              (("  __syncthreads();  // the tile is full\n", ""),), "slip", "RACE"),
        Wrong("conflicts", "all elements of a column are in one bank",
              (("kWarp + 1]", "kWarp]") if is_padded else
               ("return column ^ row;", "return column;"),), "part",
              "wavefronts per request of shared"),
        Wrong("direct", "each thread writes what it has read: one sector per element",
              ((f"tile[k][{column}] = own;",
                "result[place(table, system, i)] = own;"),
               ("i < table.count && system < table.systems)  // writes",
                "i < 0)")), "other method", "sectors per request of global stores"),
        Wrong("wrong_row", "the bodies are in the opposite order",
              ((f"const size_t row = {row.replace('count', 'table.count')};",
                f"const size_t row = {other.replace('count', 'table.count')};"),), "slip",
              "in the opposite order"),
        Wrong("whole_tiles", "only tiles that are full are written",
              (("(table.count + kWarp - 1) / kWarp", "max(1, table.count / kWarp)"),), "slip"),
        Wrong("no_bounds", "threads beyond the last body or system also read",
              (("    if (i < table.count && system < table.systems) {\n", "    {\n"),), "slip"),
        Wrong("no_results", "all accesses are there, but zeros are written",
              ((PLACE, f"__device__ Element nothing(Element own) {{\n{to_zero}  return own;\n}}\n\n"
                f"{PLACE}"), (from_tile, f"nothing({from_tile[:-1]});")), "no results"),
        Wrong("empty", "no kernel runs", (("  turn<<<", "  if (false) turn<<<"),), "nothing"),
    ]
    if choice["change"] != "copied":
        made.append(Wrong("unchanged", "the elements are only copied",
                          (("own = changed(", "own = unchanged("),), "slip"))
    return made
