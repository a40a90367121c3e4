"""Deliberately wrong programs for the assignment family "neighbours". Each one is a list of edits
to a reference solution."""

from __future__ import annotations

from nbody_tools.assignments.family import Wrong


def wrong(choice: dict[str, str]) -> list[Wrong]:
    to_result = ("to[0] = sum.x;\n  to[1] = sum.y;\n  to[2] = sum.z;",
                 "to[0] = 0 * sum.x;\n  to[1] = 0 * sum.y;\n  to[2] = 0 * sum.z;") \
        if choice["what"] == "force" else \
        ("result[first + i] = sum;", "result[first + i] = 0 * sum;")
    made = [
        Wrong("own_cell", "only the body's own cell is searched",
              (("kReach = 1;", "kReach = 0;"),), "few bodies"),
        Wrong("lost_count", "threads overwrite each other's counts of a cell",
              (("  atomicAdd(&counts[cell], 1);", "  counts[cell] += 1;"),), "slip", "RACE"),
        Wrong("no_barrier", "threads overwrite numbers of the scan that others have yet to read",
              (("    __syncthreads();  // all have read\n", ""),), "slip"),
        Wrong("not_cleared", "the counts of the cells do not begin at zero",
              (("  cudaMemset(lists.counts, 0,", "  if (false) cudaMemset(lists.counts, 0,"),),
              "slip", "holds zeros"),
        Wrong("no_search", "no kernel searches", (("  search<<<", "  if (false) search<<<"),),
              "first kernel"),
        Wrong("no_results", "all accesses are there, but zeros are written", (to_result,),
              "no results"),
    ]
    if choice["what"] != "force":
        made.append(Wrong("own_neighbour", "a body is its own neighbour",
                          (("order[k] == i", "order[k] < 0"),),
                          "unrecognised" if choice["what"] == "nearest" else "slip"))
    if choice["border"] == "open":
        made.append(Wrong("all_pairs", "every cell is searched",
                          (("kReach = 1;", "kReach = kSide;"),), "part",
                          "loads and shuffles per body"))
    else:
        made.append(Wrong("no_images", "the vectors do not wrap around at the borders",
                          (("return d - 2 * rintf(0.5f * d);", "return d;"),), "slip"))
    return made
