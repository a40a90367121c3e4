// Tests CUB's primitives that compare the items of a block or a warp, and Thrust's searches with a
// comparison.
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

#include "support.h"

namespace {

constexpr int kWide = 64, kEach = 3, kInBlock = kWide * kEach;
using Numbers = std::vector<int>;

// Runs of equal numbers, some of which cross the borders between threads.
Numbers with_runs() {
  Numbers all(kInBlock);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i * i / 7 % 11 / 4);
  return all;
}
Numbers part_of(const Numbers& all, std::ptrdiff_t begin, std::ptrdiff_t end) {
  return {all.begin() + begin, all.begin() + end};
}

__device__ void load(const int* in, int (&items)[kEach]) {
  for (int i = 0; i < kEach; ++i) items[i] = in[threadIdx.x * kEach + i];
}
__device__ void store(int* out, const int (&items)[kEach]) {
  for (int i = 0; i < kEach; ++i) out[threadIdx.x * kEach + i] = items[i];
}

struct DiffersAt {  // `index` is that of the pair's second item
  const int* all;
  __device__ bool operator()(int a, int b, int index) const {
    return a != b && all[index - 1] == a && (index == kInBlock || all[index] == b);
  }
};

__global__ void flag_block(const int* in, int* out) {
  using Discontinuity = cub::BlockDiscontinuity<int, kWide>;
  __shared__ typename Discontinuity::TempStorage storage;
  int items[kEach], heads[kEach], tails[kEach];
  load(in, items);
  Discontinuity(storage).FlagHeads(heads, items, DiffersAt{in});
  store(out, heads);
  __syncthreads();
  Discontinuity(storage).FlagTails(tails, items, DiffersAt{in}, in[kInBlock - 1]);
  store(out + kInBlock, tails);
  __syncthreads();
  Discontinuity(storage).FlagHeadsAndTails(heads, in[0], tails, items, cub::Inequality());
  store(out + 2 * kInBlock, heads);
  store(out + 3 * kInBlock, tails);
}

TEST(CubBlocks, Discontinuity) {
  const Numbers in = with_runs();
  DeviceArray<int> x(kInBlock), out(4 * kInBlock);
  x.set(in);
  flag_block<<<1, kWide>>>(x, out);
  Numbers heads(kInBlock), tails(kInBlock);
  for (std::size_t i = 1; i < kInBlock; ++i) heads[i] = tails[i - 1] = in[i] != in[i - 1];
  const Numbers found = out.get();
  EXPECT_EQ(part_of(found, kInBlock, 2 * kInBlock), tails);
  EXPECT_EQ(part_of(found, 2 * kInBlock, 3 * kInBlock), heads);
  heads.front() = tails.back() = 1;  // without a neighbour
  EXPECT_EQ(part_of(found, 0, kInBlock), heads);
  EXPECT_EQ(part_of(found, 3 * kInBlock, 4 * kInBlock), tails);
}

__global__ void flag_floats(int* heads, int* tails) {
  float items[2] = {threadIdx.x / 2.f, (threadIdx.x + 1) / 2.f};
  int flags[2];
  using Discontinuity = cub::BlockDiscontinuity<float, 2>;
  Discontinuity().FlagHeads(flags, items, cub::Inequality(), 0);
  for (int i = 0; i < 2; ++i) heads[2 * threadIdx.x + i] = flags[i];
  __syncthreads();
  Discontinuity().FlagTails(flags, items, cub::Inequality(), 1);
  for (int i = 0; i < 2; ++i) tails[2 * threadIdx.x + i] = flags[i];
}

TEST(CubBlocks, DiscontinuityConvertsTheItemOfTheNextTile) {
  DeviceArray<int> heads(4), tails(4);
  flag_floats<<<1, 2>>>(heads, tails);  // 0, 0.5, 0.5, 1
  EXPECT_EQ(heads.get(), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(tails.get(), (Numbers{1, 0, 1, 0}));
}

struct MinusOfReferences {  // as in CUB's documentation
  template <class T>
  __device__ T operator()(T& a, T& b) const {
    return a - b;
  }
};

__global__ void difference_in_block(const int* in, int* out) {
  using Difference = cub::BlockAdjacentDifference<int, kWide>;
  __shared__ typename Difference::TempStorage storage;
  int items[kEach], changed[kEach];
  load(in, items);
  Difference(storage).SubtractLeft(items, changed, MinusOfReferences(), 1000);
  store(out, changed);
  __syncthreads();
  Difference(storage).SubtractRightPartialTile(items, changed, MinusOfReferences(), 100);
  store(out + kInBlock, changed);
  __syncthreads();
  Difference(storage).SubtractLeft(items, items, cub::Difference());
  store(out + 2 * kInBlock, items);
}

TEST(CubBlocks, AdjacentDifference) {
  const Numbers in = with_runs();
  DeviceArray<int> x(kInBlock), out(3 * kInBlock);
  x.set(in);
  difference_in_block<<<1, kWide>>>(x, out);
  Numbers left(kInBlock), right = in;
  std::adjacent_difference(in.begin(), in.end(), left.begin());
  for (std::size_t i = 0; i < 99; ++i) right[i] = in[i] - in[i + 1];
  const Numbers found = out.get();
  EXPECT_EQ(part_of(found, kInBlock, 2 * kInBlock), right);
  EXPECT_EQ(part_of(found, 2 * kInBlock, 3 * kInBlock), left);
  left[0] -= 1000;
  EXPECT_EQ(part_of(found, 0, kInBlock), left);
}

struct Later {
  __host__ __device__ bool operator()(int a, int b) const { return b / 2 < a / 2; }
};

__global__ void sort_in_block(int* keys, int* places, int valid) {
  using Sort = cub::BlockMergeSort<int, 16, kEach, int, 4>;
  __shared__ typename Sort::TempStorage storage;
  const int first = (threadIdx.x + 16 * threadIdx.y) * kEach;
  int key[kEach], place[kEach];
  for (int i = 0; i < kEach; ++i) key[i] = keys[first + i], place[i] = first + i;
  Sort(storage).StableSort(key, place, Later(), valid, -1);
  for (int i = 0; i < kEach; ++i) keys[first + i] = key[i], places[first + i] = place[i];
}

TEST(CubBlocks, MergeSort) {
  const Numbers in = with_runs();
  for (const int valid : {kInBlock, 77, 1}) {
    DeviceArray<int> keys(kInBlock), places(kInBlock);
    keys.set(in);
    sort_in_block<<<1, dim3(16, 4)>>>(keys, places, valid);
    Numbers order(kInBlock), sorted(kInBlock, -1);
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](int i) { return in[static_cast<std::size_t>(i)]; };
    std::stable_sort(order.begin(), order.begin() + valid,
                     [&](int a, int b) { return Later()(at(a), at(b)); });
    std::transform(order.begin(), order.begin() + valid, sorted.begin(), at);
    EXPECT_EQ(keys.get(), sorted) << valid;
    EXPECT_EQ(part_of(places.get(), 0, valid), part_of(order, 0, valid)) << valid;
  }
}

using LargeSort = cub::BlockMergeSort<int, 512, 8, int>;

// The sizes of CUB 3.0. A block has only 48 KiB.
static_assert(sizeof(LargeSort::TempStorage) == 4 * 4097);
static_assert(sizeof(cub::BlockMergeSort<char, 64, 3, double>::TempStorage) == 8 * 193);
static_assert(sizeof(cub::WarpMergeSort<int, 3, 16>::TempStorage) == 4 * 49);

__global__ void sort_large_block(int* keys, int* places) {
  __shared__ LargeSort::TempStorage storage;
  const int first = 8 * static_cast<int>(threadIdx.x);
  int key[8], place[8];
  for (int i = 0; i < 8; ++i) key[i] = keys[first + i], place[i] = first + i;
  LargeSort(storage).Sort(key, place, [](int a, int b) { return a < b; });
  for (int i = 0; i < 8; ++i) keys[first + i] = key[i], places[first + i] = place[i];
}

TEST(CubBlocks, MergeSortOfALargeBlock) {
  constexpr int kCount = 4096;
  Numbers in(kCount), order(kCount), places(kCount);
  for (int i = 0; i < kCount; ++i) {
    in[static_cast<std::size_t>(i)] = i * 1235 % kCount;  // a permutation
    places[static_cast<std::size_t>(i * 1235 % kCount)] = i;
  }
  std::iota(order.begin(), order.end(), 0);
  DeviceArray<int> keys(kCount), from(kCount);
  keys.set(in);
  sort_large_block<<<1, 512>>>(keys, from);
  EXPECT_EQ(keys.get(), order);
  EXPECT_EQ(from.get(), places);
}

__global__ void sort_in_warps(int* keys) {
  using Sort = cub::WarpMergeSort<int, kEach, 16>;
  __shared__ typename Sort::TempStorage storage[kWide / 16];
  int key[kEach];
  load(keys, key);
  Sort(storage[threadIdx.x / 16]).Sort(key, [](int a, int b) { return a < b; });
  store(keys, key);
}

TEST(CubBlocks, MergeSortInWarps) {
  Numbers in = with_runs();
  DeviceArray<int> keys(kInBlock);
  keys.set(in);
  sort_in_warps<<<1, kWide>>>(keys);
  for (std::ptrdiff_t i = 0; i < kInBlock; i += 16 * kEach)
    std::sort(in.begin() + i, in.begin() + i + 16 * kEach);
  EXPECT_EQ(keys.get(), in);
}

__global__ void count_in_block(const int* in, unsigned* out) {
  __shared__ unsigned bins[4];
  int items[kEach];
  load(in, items);
  cub::BlockHistogram<int, kWide, kEach, 4>().Histogram(items, bins);
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}

TEST(CubBlocks, Histogram) {
  const Numbers in = with_runs();
  DeviceArray<int> x(kInBlock);
  DeviceArray<unsigned> bins(4);
  x.set(in);
  count_in_block<<<1, kWide>>>(x, bins);
  for (int bin = 0; bin < 4; ++bin)
    EXPECT_EQ(bins.get()[static_cast<std::size_t>(bin)], std::count(in.begin(), in.end(), bin));
}

// Each block has its counters in global memory.
template <cub::BlockHistogramAlgorithm kAlgorithm, class Counter>
__global__ void count_in_blocks(const int* in, Counter* out) {
  using Histogram = cub::BlockHistogram<int, kWide, kEach, 4, kAlgorithm>;
  __shared__ typename Histogram::TempStorage storage;
  Counter* bins = out + 4 * blockIdx.x;
  int items[kEach];
  load(in, items);
  Histogram(storage).InitHistogram(bins);
  // As in CUB's documentation, whose default, BLOCK_HISTO_SORT, needs no barrier here.
  if (kAlgorithm == cub::BLOCK_HISTO_ATOMIC) __syncthreads();
  Histogram(storage).Composite(items, bins);
  __syncthreads();
  Histogram(storage).Composite(items, bins);
}

template <cub::BlockHistogramAlgorithm kAlgorithm, class Counter>
void expect_histograms() {
  const Numbers in = with_runs();
  DeviceArray<int> x(kInBlock);
  DeviceArray<Counter> bins(8);
  x.set(in);
  count_in_blocks<kAlgorithm>
      <<<2, kWide>>>(static_cast<const int*>(x), static_cast<Counter*>(bins));
  for (int bin = 0; bin < 8; ++bin)
    EXPECT_EQ(bins.get()[static_cast<std::size_t>(bin)],
              2 * std::count(in.begin(), in.end(), bin % 4));
}

TEST(CubBlocks, HistogramsInGlobalMemory) {
  expect_histograms<cub::BLOCK_HISTO_SORT, unsigned>();
  expect_histograms<cub::BLOCK_HISTO_SORT, unsigned short>();  // has no atomicAdd
  expect_histograms<cub::BLOCK_HISTO_ATOMIC, unsigned>();
}

// Without TempStorage, the primitives use shared memory of their own.
__global__ void shuffle_block(const int* in, int* out, int* sums) {
  using Shuffle = cub::BlockShuffle<int, kWide>;
  int items[kEach], moved[kEach] = {-1, -1, -1}, turned = 0, last = 0;
  load(in, items);
  Shuffle().Up(items, moved, last);
  store(out, moved);
  __syncthreads();
  Shuffle().Rotate(items[0], turned, 5);
  const int sum = cub::BlockReduce<int, kWide>().Sum(items);
  if (threadIdx.x == kWide - 1) sums[0] = turned;
  if (threadIdx.x == 0) sums[1] = sum, sums[2] = last;
}

TEST(CubBlocks, ShuffleWithoutTempStorage) {
  const Numbers in = with_runs();
  DeviceArray<int> x(kInBlock), out(kInBlock), sums(3);
  x.set(in);
  shuffle_block<<<1, kWide>>>(x, out, sums);
  Numbers moved = part_of(in, 0, kInBlock - 1);
  moved.insert(moved.begin(), -1);
  EXPECT_EQ(out.get(), moved);
  EXPECT_EQ(sums.get(),
            (Numbers{in[4 * kEach], std::accumulate(in.begin(), in.end(), 0), in.back()}));
}

__global__ void exchange_in_warps(const int* in, int* out) {
  using Exchange = cub::WarpExchange<int, kEach, 16>;
  __shared__ typename Exchange::TempStorage storage[kWide / 16];
  int items[kEach];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Exchange(storage[threadIdx.x / 16]).BlockedToStriped(items, items);
  const int first = threadIdx.x / 16 * 16 * kEach + cub::LaneId() % 16;
  for (int i = 0; i < kEach; ++i) out[first + 16 * i] = items[i];
}

TEST(CubBlocks, ExchangeInWarps) {
  DeviceArray<int> x(kInBlock), out(kInBlock);
  x.set(with_runs());
  exchange_in_warps<<<1, kWide>>>(x, out);
  EXPECT_EQ(out.get(), with_runs());
}

TEST(CubBlocks, OwnIterators) {
  DeviceArray<int> x(4, 3), sum(1);
  const auto expect_sum = [&](auto in, int expected) {
    std::size_t bytes = 0;
    int* const to = sum;
    EXPECT_CUDA(cub::DeviceReduce::Sum(nullptr, bytes, in, to, 4));
    DeviceArray<char> memory(bytes);
    EXPECT_CUDA(cub::DeviceReduce::Sum(memory.operator char*(), bytes, in, to, 4));
    EXPECT_EQ(sum.get()[0], expected);
  };
  int* const p = x;
  const auto doubled = [] __host__ __device__(int i) { return 2 * i; };
  expect_sum(cub::TransformInputIterator<int, decltype(doubled), int*>(p, doubled), 24);
  expect_sum(cub::CountingInputIterator<int>(5), 5 + 6 + 7 + 8);
  expect_sum(cub::ConstantInputIterator<int>(7), 28);
  expect_sum(cub::CacheModifiedInputIterator<cub::LOAD_LDG, int>(p), 12);
}

TEST(ThrustSearches, TakeAComparison) {
  const thrust::device_vector<int> falling{9, 7, 7, 4, 1}, wanted{7, 8, 0};
  const thrust::greater<int> down;
  const auto first = falling.begin(), last = falling.end();
  EXPECT_EQ(thrust::lower_bound(first, last, 7, down) - first, 1);
  EXPECT_EQ(thrust::upper_bound(thrust::device, first, last, 7, down) - first, 3);
  EXPECT_TRUE(thrust::binary_search(first, last, 4, down));
  EXPECT_FALSE(thrust::binary_search(first, last, 5, down));
  thrust::device_vector<int> places(3);
  const auto expect_places = [&](const Numbers& expected) {
    EXPECT_EQ(Numbers(places.begin(), places.end()), expected);
  };
  thrust::lower_bound(first, last, wanted.begin(), wanted.end(), places.begin(), down);
  expect_places({1, 1, 5});
  thrust::upper_bound(thrust::device, first, last, wanted.begin(), wanted.end(), places.begin(),
                      down);
  expect_places({3, 1, 5});
  thrust::binary_search(first, last, wanted.begin(), wanted.end(), places.begin(), down);
  expect_places({1, 0, 0});
}

}  // namespace
