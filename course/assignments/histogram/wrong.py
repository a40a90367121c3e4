"""Wrong programs of the family histogram, as edits of its references."""

from __future__ import annotations

from nbody_tools.assignments.family import Wrong


def wrong(choice: dict[str, str]) -> list[Wrong]:
    made = [
        Wrong("no_barrier", "threads count into a map that others are still clearing",
              (("  __syncthreads();  // the map is cleared\n", ""),), (0, 60), "RACE"),
        Wrong("no_atomic", "threads of a block overwrite each other's counts",
              (("      collect(&map[cell], own);", "      lose(&map[cell], own);"),), (0, 60),
              "RACE"),
        Wrong("first_block_only", "only the first chunk of the bodies is read",
              (("(bodies.count + kBlock - 1) / kBlock", "1"),
               ("i += gridDim.x * kBlock", "i += bodies.count")), (5, 75)),
        Wrong("empty", "no kernel runs", (("  make_maps<<<", "  if (false) make_maps<<<"),),
              (0, 5)),
    ]
    if choice["outside"] == "dropped":
        made.append(Wrong("not_dropped", "bodies outside are counted at the edge",
                          (("      if (!inside) continue;\n", ""),), (15, 75)))
    else:
        made.append(Wrong("dropped", "bodies outside are not counted",
                          (("const bool inside = true;", "const bool inside = is_inside;"),
                           ("// everybody counts\n", "\n      if (!inside) continue;\n")),
                          (15, 75)))
    if choice["finish"] == "atomic":
        made.append(Wrong("not_cleared", "the maps are added to uninitialised memory",
                          (("  cudaMemset(result, 0,", "  if (false) cudaMemset(result, 0,"),),
                          (50, 70), "holds zeros"))
    return made
