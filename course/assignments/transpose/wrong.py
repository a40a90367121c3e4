"""Wrong programs of the family transpose, as edits of its references."""

from __future__ import annotations

from nbody_tools.assignments.families.transpose import ORDERS
from nbody_tools.assignments.family import Wrong


def wrong(choice: dict[str, str]) -> list[Wrong]:
    row = ORDERS[choice["order"]][1]
    other = "count - 1 - i" if choice["order"] == "forward" else "i"
    column = "threadIdx.x" if choice["avoid"] == "padding" else "column_of(k, threadIdx.x)"
    conflicts = ("kWarp + 1]", "kWarp]") if choice["avoid"] == "padding" else \
        ("return column ^ row;", "return column;")
    made = [
        Wrong("no_barrier", "threads read a tile that others have not filled",
              (("  __syncthreads();  // the tile is full\n", ""),), (0, 30), "RACE"),
        Wrong("conflicts", "all elements of a column are in one bank", (conflicts,), (80, 97),
              "wavefronts per request of shared"),
        Wrong("direct", "each thread writes what it has read: one sector per element",
              ((f"tile[k][{column}] = own;",
                "result[place(table, system, i)] = own;"),
               ("i < table.count && system < table.systems)  // writes",
                "i < 0)")), (30, 50), "sectors per request of global stores"),
        Wrong("wrong_row", "the bodies are in the opposite order",
              ((f"const size_t row = {row.replace('count', 'table.count')};",
                f"const size_t row = {other.replace('count', 'table.count')};"),), (55, 75),
              "in the opposite order"),
        Wrong("whole_tiles", "only tiles that are full are written",
              (("(table.count + kWarp - 1) / kWarp", "max(1, table.count / kWarp)"),), (5, 75)),
    ]
    if choice["change"] != "copied":
        made.append(Wrong("unchanged", "the elements are only copied",
                          (("own = changed(", "own = unchanged("),), (0, 30)))
    return made
