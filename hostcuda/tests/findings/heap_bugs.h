// Bugs with memory that a kernel allocates, and with the C library's copy functions.
#ifndef HOSTCUDA_TESTS_FINDINGS_HEAP_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_HEAP_BUGS_H

#include <cstdlib>
#include <cstring>

#include "seeded.h"

namespace seeded {

__global__ void fills_own_memory(int* out, int n) {
  int* const own = static_cast<int*>(malloc(8 * sizeof(int)));
  // BUG heap_overrun
  for (int i = 0; i < n; ++i) own[i] = i;
  out[threadIdx.x] = own[7];
  free(own);
}
SEEDED(heap_overrun, "out of bounds") {
  const Buffer<int> out(kThreads);
  fills_own_memory<<<1, kThreads>>>(out.data, wrong ? 9 : 8);
}

struct Node {
  int value;
  Node* next;
};
__global__ void makes_a_list(int* out, bool wrong) {
  Node* first = nullptr;
  for (int i = 0; i < 4; ++i) {
    Node* const node = new Node;
    if (!wrong) node->value = i;
    node->next = first;
    first = node;
  }
  int sum = 0;
  while (first) {
    Node* const node = first;
    // BUG heap_unwritten
    sum += node->value;
    first = node->next;
    delete node;
  }
  out[threadIdx.x] = sum;
}
SEEDED_KERNEL(heap_unwritten, "uninitialised", makes_a_list, 1, kThreads, kThreads)

__device__ __noinline__ void give_back(const int* own) { delete[] own; }
__global__ void reads_what_it_freed(int* out, bool wrong) {
  int* const own = new int[4];
  for (int i = 0; i < 4; ++i) own[i] = out[i];
  if (wrong) give_back(own);
  // BUG heap_used_after_free
  out[threadIdx.x] = own[threadIdx.x];
  if (!wrong) give_back(own);
}
SEEDED_KERNEL(heap_used_after_free, "use after free", reads_what_it_freed, 1, 1, kThreads)

__global__ void frees_for_each_thread(bool wrong) {
  __shared__ int* of_all;
  if (threadIdx.x == 0) of_all = static_cast<int*>(malloc(kThreads * sizeof(int)));
  __syncthreads();
  of_all[threadIdx.x] = 1;
  __syncthreads();
  // BUG heap_freed_twice
  if (wrong || threadIdx.x == 0) free(of_all);
}
SEEDED(heap_freed_twice, "double free") { frees_for_each_thread<<<1, kThreads>>>(wrong); }

__global__ void frees_inside(int by) {
  char* const own = static_cast<char*>(malloc(16));
  // BUG heap_freed_inside
  free(own + by);
  if (by) free(own);
}
SEEDED(heap_freed_inside, "bad free") { frees_inside<<<1, 1>>>(wrong ? 4 : 0); }

__global__ void frees_given(int* given, bool wrong) {
  *given = 1;
  // BUG kernel_frees_the_hosts
  if (wrong) free(given);
}
SEEDED_KERNEL(kernel_frees_the_hosts, "bad free", frees_given, 1, 1, 1)

__global__ void allocates(int** kept, bool frees) {
  // BUG heap_leak
  int* const own = new int(1);
  *kept = own;
  if (frees) delete own;
}
SEEDED(heap_leak, "leak") {
  const Buffer<int*> kept(1);
  allocates<<<1, 1>>>(kept.data, !wrong);
}

__global__ void frees_kept(int** kept) { free(*kept); }
__global__ void allocates_for_later(int** kept) {
  *kept = static_cast<int*>(malloc(sizeof(int)));
  **kept = 1;
}
SEEDED(freed_by_the_host, "bad free") {
  const Buffer<int*> kept(1);
  allocates_for_later<<<1, 1>>>(kept.data);
  int* const of_kernel = kept.get()[0];
  // BUG freed_by_the_host
  if (wrong) free(of_kernel);
  frees_kept<<<1, 1>>>(kept.data);
}

__global__ void copies_kept(int** kept, int* out) { *out = **kept; }
SEEDED(heap_copied_by_the_host, "bad copy") {
  const Buffer<int*> kept(1);
  const Buffer<int> out(1);
  allocates_for_later<<<1, 1>>>(kept.data);
  copies_kept<<<1, 1>>>(kept.data, out.data);
  const int* const source = wrong ? kept.get()[0] : out.data;
  int value = 0;
  // BUG heap_copied_by_the_host
  cudaMemcpy(&value, source, sizeof value, cudaMemcpyDeviceToHost);
  frees_kept<<<1, 1>>>(kept.data);
}

__global__ void copies_bytes(char* to, const char* from, std::size_t bytes) {
  // BUG memcpy_past_the_end
  memcpy(to, from, bytes);
}
__global__ void copies_bytes_by_a_pointer(char* to, const char* from, std::size_t bytes) {
  void* (*const copy)(void*, const void*, std::size_t) = memcpy;
  // BUG memcpy_by_a_pointer
  copy(to + 1, from, bytes);
}
SEEDED(memcpy_by_a_pointer, "out of bounds") {
  Buffer<char> to(200), from(100);
  copies_bytes_by_a_pointer<<<1, 1>>>(to.data, from.data, wrong ? 101 : 100);
}
__global__ void copies_bytes_in_parentheses(char* to, const char* from, std::size_t bytes) {
  // BUG memcpy_in_parentheses
  (memcpy)(to + 2, from, bytes);
}
SEEDED(memcpy_in_parentheses, "out of bounds") {
  Buffer<char> to(200), from(100);
  copies_bytes_in_parentheses<<<1, 1>>>(to.data, from.data, wrong ? 101 : 100);
}
SEEDED(memcpy_past_the_end, "out of bounds") {
  const Buffer<char> to(100), from(100);
  copies_bytes<<<1, 1>>>(to.data, from.data, wrong ? 101 : 100);
}

__global__ void clears(int* out, std::size_t bytes) {
  if (threadIdx.x == 0) memset(out, 0, bytes);
  __syncthreads();
  // BUG memset_in_elements
  out[threadIdx.x] += 1;
}
SEEDED(memset_in_elements, "uninitialised") {
  const Buffer<int> out(4, false);
  clears<<<1, 4>>>(out.data, wrong ? 4 : 4 * sizeof(int));
}

}  // namespace seeded

#endif
