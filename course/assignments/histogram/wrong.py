"""Deliberately wrong programs for the assignment family "histogram". Each one is a list of edits to
a reference solution."""

from __future__ import annotations

from nbody_tools.assignments.family import Wrong


def wrong(choice: dict[str, str]) -> list[Wrong]:
    made = [
        Wrong("no_barrier", "threads count into a map that others are still clearing",
              (("  __syncthreads();  // the map is cleared\n", ""),), "slip", "RACE"),
        Wrong("no_atomic", "threads of a block overwrite each other's counts",
              (("      collect(&map[cell], own);", "      lose(&map[cell], own);"),), "race",
              "RACE"),
        Wrong("small_blocks", "a block takes only 128 bodies",
              (("kBlock = 256", "kBlock = 128"), ("kMostBlocks = 4", "kMostBlocks = 99")), "part",
              "bodies per block"),
        # This program is right: rounding up to whole blocks must not break a limit.
        Wrong("one_body_per_thread", "each thread reads one body",
              (("kMostBlocks = 4", "kMostBlocks = 99"),), "complete"),
        Wrong("first_system", "all systems read the bodies of the first one",
              (("const size_t first = static_cast<size_t>(system)",
                "const size_t first = static_cast<size_t>(0 * system)"),), "slip"),
        Wrong("first_block_only", "only the first chunk of the bodies is read",
              (("(bodies.count + kBlock - 1) / kBlock", "1"),
               ("i += gridDim.x * kBlock", "i += bodies.count")), "some bodies"),
        Wrong("empty", "no kernel runs", (("  make_maps<<<", "  if (false) make_maps<<<"),),
              "nothing"),
    ]
    if choice["outside"] == "dropped":
        made.append(Wrong("not_dropped", "bodies outside are counted at the edge",
                          (("      if (!inside) continue;\n", ""),), "slip"))
    else:
        made.append(Wrong("dropped", "bodies outside are not counted",
                          (("const bool inside = true;", "const bool inside = is_inside;"),
                           ("// everybody counts\n", "\n      if (!inside) continue;\n")), "slip"))
    if choice["cells"] == "plane":
        made.append(Wrong("exchanged", "rows and columns are exchanged",
                          (("clamped(row) * kSide + clamped(column)",
                            "clamped(column) * kSide + clamped(row)"),), "slip"))
    if choice["what"] == "fastest":
        once = "      collect(&map[cell], own);\n"
        made.append(Wrong("three_atomics", "each maximum is taken three times", ((once, 3 * once),),
                          "part", "shared atomics per body"))
    return made + of_finish(choice)


def of_finish(choice: dict[str, str]) -> list[Wrong]:
    if choice["finish"] == "atomic":
        return [
            Wrong("not_cleared", "the maps are added to uninitialised memory",
                  (("  cudaMemset(result, 0,", "  if (false) cudaMemset(result, 0,"),), "slip",
                  "holds zeros"),
            Wrong("no_results", "all accesses are there, but zeros are added",
                  (("* kCells + k], map[k]);", "* kCells + k], 0 * map[k]);"),), "no results"),
        ]
    return [
        Wrong("no_second", "the second kernel is missing",
              (("  combine_maps<<<", "  if (false) combine_maps<<<"),), "first kernel"),
        Wrong("no_results", "all accesses are there, but zeros are written",
              (("* kCells + k] = all;", "* kCells + k] = 0 * all;"),), "no results"),
    ]
