// Reduces the data that all ranks sent, in the order of the ranks, so that all ranks compute the
// same bits.
#pragma once

#include <cstddef>

#include "nccl.h"

namespace hostcuda::nccl {

// parts: `ranks` arrays of `count` numbers, one after another. `to` may be one of these arrays.
void reduce(const char* parts, int ranks, void* to, std::size_t count, ncclDataType_t type,
            ncclRedOp_t operation);

}  // namespace hostcuda::nccl
