#include "reduction.h"

#include <algorithm>
#include <cstdint>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace hostcuda::nccl {
namespace {

// Half and bfloat16 are added as floats.
template <class Number>
struct Sum {
  using Type = Number;
};
template <>
struct Sum<__half> {
  using Type = float;
};
template <>
struct Sum<__nv_bfloat16> {
  using Type = float;
};

template <class Number>
void reduce_numbers(const char* bytes, int ranks, void* to, std::size_t count,
                    ncclRedOp_t operation) {
  using Wide = typename Sum<Number>::Type;
  const auto* parts = reinterpret_cast<const Number*>(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    auto total = static_cast<Wide>(parts[i]);
    for (int rank = 1; rank < ranks; ++rank) {
      const auto next = static_cast<Wide>(parts[static_cast<std::size_t>(rank) * count + i]);
      total = static_cast<Wide>(operation == ncclProd  ? total * next
                                : operation == ncclMax ? std::max(total, next)
                                : operation == ncclMin ? std::min(total, next)
                                                       : total + next);
    }
    if (operation == ncclAvg) total = static_cast<Wide>(total / static_cast<Wide>(ranks));
    static_cast<Number*>(to)[i] = static_cast<Number>(total);
  }
}

}  // namespace

void reduce(const char* parts, int ranks, void* to, std::size_t count, ncclDataType_t type,
            ncclRedOp_t operation) {
  switch (type) {
    case ncclInt8:
      return reduce_numbers<std::int8_t>(parts, ranks, to, count, operation);
    case ncclUint8:
      return reduce_numbers<std::uint8_t>(parts, ranks, to, count, operation);
    case ncclInt32:
      return reduce_numbers<std::int32_t>(parts, ranks, to, count, operation);
    case ncclUint32:
      return reduce_numbers<std::uint32_t>(parts, ranks, to, count, operation);
    case ncclInt64:
      return reduce_numbers<std::int64_t>(parts, ranks, to, count, operation);
    case ncclUint64:
      return reduce_numbers<std::uint64_t>(parts, ranks, to, count, operation);
    case ncclFloat16:
      return reduce_numbers<__half>(parts, ranks, to, count, operation);
    case ncclBfloat16:
      return reduce_numbers<__nv_bfloat16>(parts, ranks, to, count, operation);
    case ncclFloat32:
      return reduce_numbers<float>(parts, ranks, to, count, operation);
    case ncclFloat64:
      return reduce_numbers<double>(parts, ranks, to, count, operation);
  }
}

}  // namespace hostcuda::nccl
