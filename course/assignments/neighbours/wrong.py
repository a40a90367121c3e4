"""Wrong programs of the family neighbours, as edits of its references."""

from __future__ import annotations

from nbody_tools.assignments.family import Wrong


def wrong(choice: dict[str, str]) -> list[Wrong]:
    made = [
        Wrong("own_cell", "only the body's own cell is searched",
              (("kReach = 1;", "kReach = 0;"),), (0, 60)),
        Wrong("lost_count", "threads overwrite each other's counts of a cell",
              (("  atomicAdd(&counts[cell], 1);", "  counts[cell] += 1;"),), (0, 55), "RACE"),
        Wrong("no_barrier", "threads overwrite numbers of the scan that others have yet to read",
              (("    __syncthreads();  // all have read\n", ""),), (0, 60)),
        Wrong("empty", "no kernel searches", (("  search<<<", "  if (false) search<<<"),), (0, 2)),
    ]
    if choice["what"] != "force":
        made.append(Wrong("own_neighbour", "a body is its own neighbour",
                          (("order[k] == i", "order[k] < 0"),), (0, 60)))
    if choice["border"] == "open":
        made.append(Wrong("all_pairs", "every cell is searched",
                          (("kReach = 1;", "kReach = kSide;"),), (30, 50),
                          "global loads per body"))
    else:
        made.append(Wrong("no_images", "the vectors do not wrap around",
                          (("return d - 2 * rintf(0.5f * d);", "return d;"),), (10, 75)))
    return made
