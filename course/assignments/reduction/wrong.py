"""Wrong programs of the family reduction, as edits of its references."""

from __future__ import annotations

from nbody_tools.assignments.families.reduction import QUANTITIES
from nbody_tools.assignments.family import Wrong


def wrong(choice: dict[str, str]) -> list[Wrong]:
    quantity = QUANTITIES[choice["quantity"]]
    first = quantity.terms[0]
    is_tree = choice["method"] == "tree"
    barrier = "    __syncthreads();  // of a round\n" if is_tree else \
        "  __syncthreads();  // all warps have written\n"
    made = [
        Wrong("no_barrier", "threads read sums that others have not written yet",
              ((barrier, ""),), (10, 60), "RACE"),
        Wrong("one_result", "the first result is computed by another formula",
              ((f"  own.value[0] = {first};", f"  own.value[0] = 2 * ({first}) + 1;"),), (5, 65)),
        Wrong("first_block_only", "only the first chunk of the bodies is read",
              (("(bodies.count + kBlock - 1) / kBlock", "1"),
               ("begin += gridDim.x * kBlock", "begin += bodies.count")), (10, 70)),
        Wrong("empty", "no kernel runs", (("  partial_sums<<<", "  if (false) partial_sums<<<"),),
              (0, 0)),
    ]
    if choice["finish"] == "atomic":
        made.append(Wrong("not_zeroed", "the sums are added to what `result` held before",
                          (("  cudaMemset(result, 0,", "  if (false) cudaMemset(result, 0,"),),
                          (50, 70), "holds zeros"))
    if is_tree:
        made.append(Wrong("serial", "one thread per block",
                          (("kBlock = 256", "kBlock = 1"),
                           ("chunks < kMostBlocks ? chunks : kMostBlocks", "1")), (20, 50),
                          "requests of global loads per body"))
    if choice["layout"] == "records":
        made.append(Wrong("not_staged", "each thread reads its own record: seven strided loads",
                          (("        tile[k] = from[k];\n", "        tile[k] = 0;\n"),
                           ("const float* own_body = tile + 7 * threadIdx.x;",
                            "const float* own_body = from + 7 * threadIdx.x;")), (40, 50),
                          "sectors per request"))
    return made
