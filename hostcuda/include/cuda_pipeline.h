// hostcuda: the functions of cuda_pipeline.h, which copy asynchronously.
#pragma once

#include "hostcuda/ptx/async_copies.h"

[[gnu::always_inline]] inline void __pipeline_memcpy_async(void* to, const void* from,
                                                           std::size_t bytes,
                                                           std::size_t zeros = 0) {
  hostcuda::async_copies::add(to, from, bytes, bytes - zeros);
}
inline void __pipeline_commit() { hostcuda::async_copies::commit(); }
inline void __pipeline_wait_prior(unsigned left) { hostcuda::async_copies::wait(left); }
