// hostcuda: occupancy, the number of blocks that run on a multiprocessor at the same time.
#pragma once

#include "runtime_api.h"

// Occupancy is computed from the numbers of threads and blocks, the dynamic shared memory and the
// limits of compute capability 9.0. Registers and static shared memory are unknown here, so a GPU
// may return a lower number, but never a higher one.
template <class Function>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*,
                                                                 int block_size,
                                                                 std::size_t dynamic_shared_bytes) {
  return hostcuda::max_active_blocks(blocks, block_size, dynamic_shared_bytes);
}
template <class Function>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Function*, int block_size, std::size_t dynamic_shared_bytes, unsigned) {
  return hostcuda::max_active_blocks(blocks, block_size, dynamic_shared_bytes);
}
// Always proposes 256 threads (or the limit, if it is lower) and as many blocks as the
// multiprocessors can hold at the same time.
template <class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Function*,
                                                      std::size_t dynamic_shared_bytes = 0,
                                                      int limit = 0) {
  return hostcuda::max_potential_block_size(grid, block, dynamic_shared_bytes, limit);
}
template <class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, Function*,
                                                               std::size_t dynamic_shared_bytes = 0,
                                                               int limit = 0, unsigned = 0) {
  return hostcuda::max_potential_block_size(grid, block, dynamic_shared_bytes, limit);
}
// bytes_of: returns the dynamic shared memory of a block with a number of threads.
template <class BytesOf, class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Function*,
                                                                  BytesOf bytes_of, int limit = 0) {
  if (const cudaError_t error = hostcuda::max_potential_block_size(grid, block, 0, limit))
    return error;
  return hostcuda::max_potential_block_size(grid, block, bytes_of(*block), limit);
}
template <class BytesOf, class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* grid, int* block, Function* function, BytesOf bytes_of, int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, function, bytes_of, limit);
}
// The dynamic shared memory with which this many blocks fit on a multiprocessor.
template <class Function>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, Function*,
                                                             int blocks, int block_size) {
  return hostcuda::available_shared_memory(bytes, blocks, block_size);
}
