// The access patterns of the textbooks, each a kernel that is launched once: what `./nbody inspect`
// says about them is compared with what Nsight Compute counts on a GPU. See docs/inspect.md.
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>

#include "global.cuh"
#include "nbody/device.h"
#include "shared.cuh"

namespace {

using namespace patterns;

std::vector<int> permutation() {
  std::vector<int> index(kThreads);
  std::iota(index.begin(), index.end(), 0);
  std::mt19937 random(1);  // the same numbers everywhere, which std::shuffle does not promise
  for (unsigned i = kThreads - 1; i > 0; --i) std::swap(index[i], index[random() % (i + 1)]);
  return index;
}

// Any of the patterns' types, all zero. Large enough for the widest element and stride.
struct Buffer {
  nbody::DeviceArray<float4> memory{std::size_t{kSide} * kSide};
  Buffer() { CUDA_CHECK(cudaMemset(memory.get(), 0, memory.bytes())); }
  template <class T>
  operator T*() const {
    return reinterpret_cast<T*>(memory.get());
  }
};

void run_global(const Buffer& in, const Buffer& out, const int* index) {
  constexpr int kBlocks = kThreads / kBlockSize;
  coalesced_4_bytes<<<kBlocks, kBlockSize>>>(in, out);
  coalesced_8_bytes<<<kBlocks, kBlockSize>>>(in, out);
  coalesced_16_bytes<<<kBlocks, kBlockSize>>>(in, out);
  read_only_load<<<kBlocks, kBlockSize>>>(in, out);
  offset_by_one<<<kBlocks, kBlockSize>>>(in, out);
  stride_2<<<kBlocks, kBlockSize>>>(in, out);
  every_second_thread<<<kBlocks, kBlockSize>>>(in, out);
  member_of_12_bytes<<<kBlocks, kBlockSize>>>(in, out);
  whole_12_bytes<<<kBlocks, kBlockSize>>>(in, out);
  member_of_16_bytes<<<kBlocks, kBlockSize>>>(in, out);
  whole_16_bytes<<<kBlocks, kBlockSize>>>(in, out);
  member_of_float4<<<kBlocks, kBlockSize>>>(in, out);
  stride_2_of_float4<<<kBlocks, kBlockSize>>>(in, out);
  member_of_28_bytes<<<kBlocks, kBlockSize>>>(in, out);
  whole_28_bytes<<<kBlocks, kBlockSize>>>(in, out);
  broadcast<<<kBlocks, kBlockSize>>>(in, out, 5);
  broadcast_16_bytes<<<kBlocks, kBlockSize>>>(in, out, 5);
  broadcast_28_bytes<<<kBlocks, kBlockSize>>>(in, out, 64);
  gather<<<kBlocks, kBlockSize>>>(in, index, out);
  gather_16_bytes<<<kBlocks, kBlockSize>>>(in, index, out);
  store_stride_2<<<kBlocks, kBlockSize>>>(out);
  store_member_of_28_bytes<<<kBlocks, kBlockSize>>>(out);
  transpose_naive<<<dim3(kSide / kWarp, kSide / kWarp), dim3(kWarp, kWarp)>>>(in, out);
  atomic_neighbours<<<kBlocks, kBlockSize>>>(out);
  atomic_same_address<<<kBlocks, kBlockSize>>>(out);
  warp_sum<<<kBlocks, kBlockSize>>>(in, out);
}

void run_shared(const Buffer& in, const Buffer& out, const int* index) {
  constexpr int kBlocks = kThreads / kBlockSize;
  shared_column<<<dim3(kSide / kWarp, kSide / kWarp), dim3(kWarp, kWarp)>>>(in, out);
  shared_column_padded<<<dim3(kSide / kWarp, kSide / kWarp), dim3(kWarp, kWarp)>>>(in, out);
  shared_reversed<<<kBlocks, kBlockSize>>>(out);
  shared_stride_2<<<kBlocks, kBlockSize>>>(out);
  shared_broadcast<<<kBlocks, kBlockSize>>>(out, 5);
  shared_8_bytes<<<kBlocks, kBlockSize>>>(out);
  shared_16_bytes<<<kBlocks, kBlockSize>>>(out);
  shared_16_bytes_broadcast<<<kBlocks, kBlockSize>>>(out, 5);
  shared_8_bytes_broadcast<<<kBlocks, kBlockSize>>>(out, 5);
  shared_8_bytes_halves<<<kBlocks, kBlockSize>>>(out);
  shared_8_bytes_pairs<<<kBlocks, kBlockSize>>>(out);
  shared_8_bytes_stride_2<<<kBlocks, kBlockSize>>>(out);
  shared_16_bytes_halves<<<kBlocks, kBlockSize>>>(out);
  shared_16_bytes_quarters<<<kBlocks, kBlockSize>>>(out);
  shared_16_bytes_pairs<<<kBlocks, kBlockSize>>>(out);
  shared_16_bytes_stride_2<<<kBlocks, kBlockSize>>>(out);
  shared_gather<<<kBlocks, kBlockSize>>>(index, out);
  shared_gather_8_bytes<<<kBlocks, kBlockSize>>>(index, out);
  shared_gather_16_bytes<<<kBlocks, kBlockSize>>>(index, out);
  shared_member_of_12_bytes<<<kBlocks, kBlockSize>>>(out, 1);
  shared_member_of_16_bytes<<<kBlocks, kBlockSize>>>(out, 1);
  shared_dynamic<<<kBlocks, kBlockSize, kBlockSize * sizeof(float)>>>(out);
  shared_loop<<<kBlocks, kBlockSize>>>(out);
}

}  // namespace

int main() try {
  nbody::query_platform();  // throws where there is no device
  const std::vector<int> order = permutation();
  const nbody::DeviceArray<int> index(order.size());
  nbody::upload(order, index);
  const Buffer in, out;
  run_global(in, out, index.get());
  run_shared(in, out, index.get());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("every pattern ran once\n");
} catch (const nbody::NoDevice& error) {
  std::fprintf(stderr, "patterns: %s\n", error.what());
  return 77;
} catch (const std::exception& error) {
  std::fprintf(stderr, "patterns: %s\n", error.what());
  return 1;
}
