// Textbook access patterns. Each pattern has one kernel, which is launched once. The trace's counts
// of these kernels are compared with Nsight Compute's counts on a GPU.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "global.cuh"
#include "shared.cuh"

namespace {

using namespace patterns;

std::vector<int> permutation() {
  std::vector<int> index(kThreads);
  std::iota(index.begin(), index.end(), 0);
  std::mt19937 random(1);  // std::shuffle would not give the same order everywhere
  for (unsigned i = kThreads - 1; i > 0; --i) std::swap(index[i], index[random() % (i + 1)]);
  return index;
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "patterns: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Zeroed device memory, which converts to a pointer of any type.
struct Buffer {
  explicit Buffer(std::size_t bytes) {
    check(cudaMalloc(&memory, bytes));
    check(cudaMemset(memory, 0, bytes));
  }
  ~Buffer() { cudaFree(memory); }
  template <class T>
  operator T*() const {
    return static_cast<T*>(memory);
  }
  void* memory = nullptr;
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

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "patterns: there is no CUDA device\n");
    return 77;
  }
  const std::vector<int> order = permutation();
  const Buffer index(order.size() * sizeof(int));
  check(cudaMemcpy(index, order.data(), order.size() * sizeof(int), cudaMemcpyHostToDevice));
  // Both buffers are large enough for the widest element and the largest stride.
  const Buffer in(sizeof(float4) * kSide * kSide), out(sizeof(float4) * kSide * kSide);
  run_global(in, out, index);
  run_shared(in, out, index);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  std::printf("every pattern ran once\n");
}
