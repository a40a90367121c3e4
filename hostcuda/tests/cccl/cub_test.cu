// Tests CUB: primitives for warps and blocks, and device-wide functions with memory from the
// caller.
#include <algorithm>
#include <cmath>
#include <cub/cub.cuh>
#include <numeric>
#include <random>
#include <vector>

#include "support.h"

namespace {

constexpr int kThreads = 64, kItems = 3, kAll = kThreads * kItems;

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::minstd_rand engine(5);
  for (int& x : all) x = static_cast<int>(engine() % 1000) - 500;
  return all;
}

// ---- blocks -------------------------------------------------------------------------------------

__global__ void reduce_block(const int* in, int* sum, int* largest, int* of_first_ten) {
  using Reduce = cub::BlockReduce<int, 16, cub::BLOCK_REDUCE_RAKING, 4>;
  __shared__ typename Reduce::TempStorage storage;
  const int thread = threadIdx.x + 16 * threadIdx.y;
  int items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = in[thread * kItems + i];
  const int total = Reduce(storage).Sum(items);
  __syncthreads();
  const int top = Reduce(storage).Reduce(items[0], cub::Max());
  __syncthreads();
  const int few = Reduce(storage).Sum(items[0], 10);
  if (thread == 0) {
    *sum = total;
    *largest = top;
    *of_first_ten = few;
  }
}

TEST(Cub, BlockReduce) {
  const std::vector<int> in = numbers(kAll);
  DeviceArray<int> x(kAll), out(3);
  x.set(in);
  reduce_block<<<1, dim3(16, 4)>>>(x, out, out + 1, out + 2);
  int largest = in[0], few = 0;
  for (std::size_t i = 0; i < kAll; i += kItems) largest = std::max(largest, in[i]);
  for (std::size_t i = 0; i < 10 * kItems; i += kItems) few += in[i];
  EXPECT_EQ(out.get(), (std::vector<int>{std::accumulate(in.begin(), in.end(), 0), largest, few}));
}

struct RunningTotal {
  int total;
  __device__ int operator()(int block_total) {
    const int before = total;
    total += block_total;
    return before;
  }
};

__global__ void scan_block(const int* in, int* inclusive, int* exclusive, int* with_prefix) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } storage;
  int items[kItems], out[kItems], total = -1;
  Load(storage.load).Load(in, items);
  __syncthreads();
  Scan(storage.scan).InclusiveSum(items, out);
  __syncthreads();
  Store(storage.store).Store(inclusive, out);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, out, total);
  __syncthreads();
  Store(storage.store).Store(exclusive, out, kAll - 1);
  if (threadIdx.x == kThreads - 1) exclusive[kAll - 1] = total;
  RunningTotal running{100};
  for (int round = 0; round < 2; ++round) {
    __syncthreads();
    Scan(storage.scan).ExclusiveSum(items[0], out[0], running);
    with_prefix[round * kThreads + threadIdx.x] = out[0];
  }
}

TEST(Cub, BlockLoadScanStore) {
  const std::vector<int> in = numbers(kAll);
  DeviceArray<int> x(kAll), inclusive(kAll), exclusive(kAll), prefix(2 * kThreads);
  x.set(in);
  scan_block<<<1, kThreads>>>(x, inclusive, exclusive, prefix);
  std::vector<int> expected(kAll);
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT_EQ(inclusive.get(), expected);
  std::vector<int> shifted(expected.begin(), expected.end() - 1);
  shifted.insert(shifted.begin(), 0);
  shifted.back() = expected.back();
  EXPECT_EQ(exclusive.get(), shifted);
  int sum = 100;
  const std::vector<int> found = prefix.get();
  for (std::size_t i = 0; i < 2 * kThreads; ++i) {
    ASSERT_EQ(found[i], sum) << i;
    sum += in[i % kThreads * kItems];
  }
}

__global__ void sort_block(float* keys, int* values) {
  using Sort = cub::BlockRadixSort<float, kThreads, kItems, int>;
  __shared__ typename Sort::TempStorage storage;
  float key[kItems];
  int value[kItems];
  for (int i = 0; i < kItems; ++i) {
    key[i] = keys[threadIdx.x * kItems + i];
    value[i] = threadIdx.x * kItems + i;
  }
  Sort(storage).SortBlockedToStriped(key, value);
  for (int i = 0; i < kItems; ++i) {
    keys[i * kThreads + threadIdx.x] = key[i];
    values[i * kThreads + threadIdx.x] = value[i];
  }
}

TEST(Cub, BlockRadixSort) {
  const std::vector<int> in = numbers(kAll);
  std::vector<float> floats(in.begin(), in.end());
  floats[7] = -0.0f;
  floats[9] = 0.0f;
  DeviceArray<float> keys(kAll);
  DeviceArray<int> values(kAll);
  keys.set(floats);
  sort_block<<<1, kThreads>>>(keys, values);
  std::vector<int> order(kAll);
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](int i) { return floats[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return at(a) < at(b); });
  EXPECT_EQ(values.get(), order);
  EXPECT_EQ(keys.get()[5], at(order[5]));
}

// ---- warps --------------------------------------------------------------------------------------

__global__ void in_warps(const int* in, int* sums, int* scanned, int* eights) {
  const int i = threadIdx.x;
  __shared__ typename cub::WarpReduce<int>::TempStorage reduce;
  const int sum = cub::WarpReduce<int>(reduce).Sum(in[i]);
  if (i % 32 == 0) sums[i / 32] = sum;
  __shared__ typename cub::WarpScan<int, 8>::TempStorage scan;
  int total;
  cub::WarpScan<int, 8>(scan).ExclusiveSum(in[i], scanned[i], total);
  if (i % 8 == 7) eights[i / 8] = total;
}

TEST(Cub, Warps) {
  const std::vector<int> in = numbers(48);  // leaves the second warp incomplete
  DeviceArray<int> x(48), sums(2), scanned(48), eights(6);
  x.set(in);
  in_warps<<<1, 48>>>(x, sums, scanned, eights);
  EXPECT_EQ(sums.get()[0], std::accumulate(in.begin(), in.begin() + 32, 0));
  EXPECT_EQ(sums.get()[1], std::accumulate(in.begin() + 32, in.end(), 0));
  EXPECT_EQ(scanned.get()[13], std::accumulate(in.begin() + 8, in.begin() + 13, 0));
  EXPECT_EQ(eights.get()[5], std::accumulate(in.begin() + 40, in.end(), 0));
}

// ---- devices ------------------------------------------------------------------------------------

// Calls a device-wide function twice, first to get the size of its memory and then to get its
// result.
template <class Call>
cudaError_t twice(const Call& call) {
  std::size_t bytes = 0;
  EXPECT_CUDA(call(nullptr, bytes));
  EXPECT_GT(bytes, 0u);
  DeviceArray<unsigned char> temporary(bytes);
  std::size_t too_few = bytes - 1;
  EXPECT_EQ(call(temporary.operator unsigned char*(), too_few), cudaErrorInvalidValue);
  const cudaError_t error = call(temporary.operator unsigned char*(), bytes);
  EXPECT_CUDA(cudaDeviceSynchronize());
  return error;
}

TEST(Cub, SortsPairsWithKeysOf64Bits) {
  constexpr int kCount = 1000;
  std::mt19937_64 engine(3);
  std::vector<unsigned long long> keys(kCount);
  std::vector<int> values(kCount);
  for (auto& key : keys) key = engine() >> (engine() % 40);
  keys[10] = keys[500] = keys[990];
  std::iota(values.begin(), values.end(), 0);
  DeviceArray<unsigned long long> in(kCount), out(kCount);
  DeviceArray<int> values_in(kCount), values_out(kCount);
  in.set(keys);
  values_in.set(values);
  std::vector<int> order = values;
  const auto key_of = [&](int i) { return keys[static_cast<std::size_t>(i)]; };
  const auto expect_sorted = [&](int begin_bit, int end_bit, bool descending) {
    const auto part = [&](int i) {
      const unsigned long long low = key_of(i) >> begin_bit;
      return end_bit - begin_bit < 64 ? low & ((1ull << (end_bit - begin_bit)) - 1) : low;
    };
    order = values;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return descending ? part(b) < part(a) : part(a) < part(b);
    });
    EXPECT_EQ(values_out.get(), order);
    EXPECT_EQ(out.get()[1], key_of(order[1]));
    EXPECT_EQ(in.get(), keys);
  };
  EXPECT_CUDA(twice([&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(
        memory, bytes, in.operator unsigned long long*(), out.operator unsigned long long*(),
        values_in.operator int*(), values_out.operator int*(), kCount);
  }));
  expect_sorted(0, 64, false);
  EXPECT_CUDA(twice([&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairsDescending(
        memory, bytes, in.operator unsigned long long*(), out.operator unsigned long long*(),
        values_in.operator int*(), values_out.operator int*(), kCount, 3, 22);
  }));
  expect_sorted(3, 22, true);
}

TEST(Cub, SortsInDoubleBuffers) {
  std::vector<double> keys{3.5, -1, 0, -7, 2};
  DeviceArray<double> a(5), b(5);
  DeviceArray<short> x(5), y(5);
  a.set(keys);
  x.set({0, 1, 2, 3, 4});
  cub::DoubleBuffer<double> key_buffers(a, b);
  cub::DoubleBuffer<short> value_buffers(x, y);
  EXPECT_CUDA(twice([&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, key_buffers, value_buffers, 5);
  }));
  short order[5];
  EXPECT_CUDA(cudaMemcpy(order, value_buffers.Current(), sizeof order, cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::vector<short>(order, order + 5), (std::vector<short>{3, 1, 2, 4, 0}));
  DeviceArray<unsigned char> c(4), d(4);
  c.set({9, 200, 3, 9});
  cub::DoubleBuffer<unsigned char> bytes_of(c, d);
  EXPECT_CUDA(twice([&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(memory, bytes, bytes_of, 4);
  }));
  EXPECT_EQ(bytes_of.selector, 1);  // after an odd number of passes
  EXPECT_EQ(d.get(), (std::vector<unsigned char>{200, 9, 9, 3}));
}

TEST(Cub, ReducesScansAndSelects) {
  const std::vector<int> in{3, 3, -2, 5, 5, 5, 0};
  DeviceArray<int> x(7), out(7), lengths(7), number(1);
  x.set(in);
  int *p = x, *o = out, *l = lengths, *n = number;
  const auto first_of = [](const DeviceArray<int>& array, std::ptrdiff_t count) {
    const std::vector<int> all = array.get();
    return std::vector<int>(all.begin(), all.begin() + count);
  };
#define EXPECT_CUB(function, ...)                           \
  EXPECT_CUDA(twice([&](void* memory, std::size_t& bytes) { \
    return cub::function(memory, bytes, __VA_ARGS__);       \
  }))
  EXPECT_CUB(DeviceReduce::Sum, p, n, 7);
  EXPECT_EQ(number.get()[0], 19);
  EXPECT_CUB(DeviceReduce::Min, p, n, 7);
  EXPECT_EQ(number.get()[0], -2);
  EXPECT_CUB(DeviceReduce::Reduce, p, n, 7, cub::Max(), 4);
  EXPECT_EQ(number.get()[0], 5);
  DeviceArray<cub::KeyValuePair<int, int>> best(1);
  EXPECT_CUB(DeviceReduce::ArgMax, p, best.operator cub::KeyValuePair<int, int>*(), 7);
  EXPECT_EQ(best.get()[0].key, 3);
  EXPECT_CUB(DeviceScan::ExclusiveSum, p, o, 7);
  EXPECT_EQ(out.get(), (std::vector<int>{0, 3, 6, 4, 9, 14, 19}));
  EXPECT_CUB(DeviceScan::InclusiveScan, p, o, cub::Max(), 7);
  EXPECT_EQ(out.get(), (std::vector<int>{3, 3, 3, 5, 5, 5, 5}));
  EXPECT_CUB(DeviceSelect::If, p, o, n, 7, [] __device__(int v) { return v > 2; });
  EXPECT_EQ(first_of(out, number.get()[0]), (std::vector<int>{3, 3, 5, 5, 5}));
  EXPECT_CUB(DeviceSelect::Flagged, p, p, o, n, 7);
  EXPECT_EQ(number.get()[0], 6);
  EXPECT_CUB(DeviceSelect::Unique, p, o, n, 7);
  EXPECT_EQ(first_of(out, number.get()[0]), (std::vector<int>{3, -2, 5, 0}));
  EXPECT_CUB(DevicePartition::If, p, o, n, 7, [] __device__(int v) { return v > 2; });
  EXPECT_EQ(out.get(), (std::vector<int>{3, 3, 5, 5, 5, 0, -2}));
  EXPECT_CUB(DeviceRunLengthEncode::Encode, p, o, l, n, 7);
  EXPECT_EQ(first_of(lengths, number.get()[0]), (std::vector<int>{2, 1, 3, 1}));
  EXPECT_CUB(DeviceRunLengthEncode::NonTrivialRuns, p, o, l, n, 7);
  EXPECT_EQ(first_of(out, number.get()[0]), (std::vector<int>{0, 3}));
  EXPECT_CUB(DeviceReduce::ReduceByKey, p, o, p, l, n, cub::Sum(), 7);
  EXPECT_EQ(first_of(lengths, number.get()[0]), (std::vector<int>{6, -2, 15, 0}));
  EXPECT_CUB(DeviceHistogram::HistogramEven, p, l, 4, 0, 6, 7);
  EXPECT_EQ(first_of(lengths, 3), (std::vector<int>{1, 2, 3}));
  EXPECT_CUB(DeviceMergeSort::SortPairs, p, o, 7, std::greater<int>());
  EXPECT_EQ(x.get(), (std::vector<int>{5, 5, 5, 3, 3, 0, -2}));
#undef EXPECT_CUB
}

}  // namespace
