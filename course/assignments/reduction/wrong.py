"""Deliberately wrong programs for the assignment family "reduction". Each one is a list of edits to
a reference solution."""

from __future__ import annotations

from nbody_tools.assignments.families.reduction import QUANTITIES
from nbody_tools.assignments.family import Wrong

FIRST = "const size_t first = static_cast<size_t>(system) * bodies.count;"
TO_RESULT = "result[static_cast<size_t>(system) * kResults + k] = sum;"


def wrong(choice: dict[str, str]) -> list[Wrong]:
    first = QUANTITIES[choice["quantity"]].terms[0]
    made = [
        Wrong("one_result", "the first result is computed by another formula",
              ((f"  own.value[0] = {first};", f"  own.value[0] = 2 * ({first}) + 1;"),), "slip"),
        Wrong("no_bounds", "threads beyond the last body add the values behind the array",
              (("    if (i < bodies.count) {\n", "    {\n"),), "slip"),
        # This program is right: rounding up to whole blocks must not break a limit.
        Wrong("blocks_of_64", "a block has 64 threads, and each reads one body",
              (("kBlock = 256", "kBlock = 64"),), "complete"),
        Wrong("first_system", "all systems read the bodies of the first one",
              ((FIRST, FIRST.replace("(system)", "(0 * system)")),), "slip"),
        Wrong("first_block_only", "only the first chunk of the bodies is read",
              (("(bodies.count + kBlock - 1) / kBlock", "1"),
               ("begin += gridDim.x * kBlock", "begin += bodies.count")), "some bodies"),
        Wrong("empty", "no kernel runs", (("  partial_sums<<<", "  if (false) partial_sums<<<"),),
              "nothing"),
    ]
    return made + of_method(choice) + of_finish(choice) + of_layout(choice)


def of_method(choice: dict[str, str]) -> list[Wrong]:
    if choice["method"] == "shuffle":
        return [
            Wrong("no_barrier", "threads read sums that others have not written yet",
                  (("  __syncthreads();  // all warps have written\n", ""),), "slip", "RACE"),
            Wrong("wrong_round", "the first round of shuffles is missing",
                  (("int far = 16;", "int far = 8;"),), "slip"),
        ]
    return [
        Wrong("no_barrier", "threads read sums that others have not written yet",
              (("    __syncthreads();  // of a round\n", ""),), "slip", "RACE"),
        Wrong("wrong_round", "the first round of the tree is missing",
              (("int half = kBlock / 2;", "int half = kBlock / 4;"),), "slip"),
        Wrong("serial", "one thread per block",
              (("kBlock = 256", "kBlock = 1"),
               ("chunks < kMostBlocks ? chunks : kMostBlocks", "1")), "one thread",
              "loads of one thread"),
    ]


def of_finish(choice: dict[str, str]) -> list[Wrong]:
    if choice["finish"] == "atomic":
        return [
            Wrong("not_zeroed", "the sums are added to what `result` held before",
                  (("  cudaMemset(result, 0,", "  if (false) cudaMemset(result, 0,"),), "slip",
                  "holds zeros"),
            Wrong("no_results", "all accesses are there, but zeros are added",
                  (("kResults + k], sum);", "kResults + k], 0 * sum);"),), "no results"),
        ]
    return [
        Wrong("no_second", "the second kernel is missing",
              (("  total_sums<<<", "  if (false) total_sums<<<"),), "first kernel"),
        Wrong("no_results", "all accesses are there, but zeros are written",
              ((TO_RESULT, TO_RESULT.replace("= sum", "= 0 * sum")),), "no results"),
        Wrong("wrong_place", "results and systems are exchanged",
              ((TO_RESULT, "result[static_cast<size_t>(k) * gridDim.x + system] = sum;"),), "slip"),
    ]


def of_layout(choice: dict[str, str]) -> list[Wrong]:
    if choice["layout"] != "records":
        return []
    return [Wrong("not_staged", "each thread reads its own record: seven strided loads",
                  (("        tile[k] = from[k];\n", "        tile[k] = 0;\n"),
                   ("const float* own_body = tile + 7 * threadIdx.x;",
                    "const float* own_body = from + 7 * threadIdx.x;")), "part",
                  "sectors per request")]
