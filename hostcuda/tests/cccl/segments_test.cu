// Tests CUB's sorts of segments, differences, three-way partition, loops and scans of a warp.
#include <algorithm>
#include <cub/cub.cuh>
#include <vector>

#include "support.h"

namespace {

// Calls the function twice: for the size of the temporary memory, and with this memory.
template <class Call>
void with_memory(const Call& call) {
  std::size_t bytes = 0;
  EXPECT_CUDA(call(nullptr, bytes));
  DeviceArray<char> memory(bytes);
  EXPECT_CUDA(call(+memory, bytes));
}

const std::vector<int> kKeys = {5, -3, 9, 1, 7, 7, 0, -8, 4, 2};
const std::vector<int> kBegins = {0, 4, 4}, kEnds = {4, 4, 10};

class Segments : public ::testing::Test {
 protected:
  Segments() : keys(10), sorted(10, 0), values(10), moved(10, 0), begins(3), ends(3) {
    keys.set(kKeys);
    values.set({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    begins.set(kBegins);
    ends.set(kEnds);
  }
  DeviceArray<int> keys, sorted, values, moved, begins, ends;
};

TEST_F(Segments, RadixSort) {
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSegmentedRadixSort::SortPairs(memory, bytes, +keys, +sorted, +values, +moved,
                                                    10, 3, +begins, +ends);
  });
  EXPECT_EQ((std::vector<int>{-3, 1, 5, 9, -8, 0, 2, 4, 7, 7}), sorted.get());
  EXPECT_EQ((std::vector<int>{1, 3, 0, 2, 7, 6, 9, 8, 4, 5}), moved.get());
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSegmentedRadixSort::SortKeysDescending(memory, bytes, +keys, +sorted, 10, 3,
                                                             +begins, +ends, 0, 3);
  });
  EXPECT_EQ((std::vector<int>{5, -3, 9, 1, 7, 7, 4, 2, 0, -8}), sorted.get());
}

TEST_F(Segments, SortInBuffers) {
  cub::DoubleBuffer<int> of_keys(keys, sorted), of_values(values, moved);
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::StableSortPairs(memory, bytes, of_keys, of_values, 10, 3,
                                                     +begins, +ends);
  });
  EXPECT_EQ(+sorted, of_keys.Current());
  EXPECT_EQ((std::vector<int>{-3, 1, 5, 9, -8, 0, 2, 4, 7, 7}), sorted.get());
  EXPECT_EQ((std::vector<int>{1, 3, 0, 2, 7, 6, 9, 8, 4, 5}), moved.get());
}

TEST_F(Segments, Extremes) {
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Max(memory, bytes, +keys, +sorted, 3, +begins, +ends);
  });
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Min(memory, bytes, +keys, +moved, 3, +begins, +ends);
  });
  EXPECT_EQ(9, sorted.get()[0]);
  EXPECT_EQ(7, sorted.get()[2]);
  EXPECT_EQ(-8, moved.get()[2]);
}

TEST_F(Segments, DifferencesInPlaceAndElsewhere) {
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceAdjacentDifference::SubtractRightCopy(memory, bytes, +keys, +moved, 10);
  });
  EXPECT_EQ((std::vector<int>{8, -12, 8, -6, 0, 7, 8, -12, 2, 2}), moved.get());
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceAdjacentDifference::SubtractLeft(memory, bytes, +keys, 10);
  });
  EXPECT_EQ((std::vector<int>{5, -8, 12, -8, 6, 0, -7, -8, 12, -2}), keys.get());
}

struct Negative {
  __device__ bool operator()(int x) const { return x < 0; }
};
struct Small {
  __device__ bool operator()(int x) const { return x < 5; }
};
struct Larger {
  __device__ bool operator()(int a, int b) const { return a > b; }
};

TEST_F(Segments, PartitionInThreeParts) {
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DevicePartition::If(memory, bytes, +keys, +sorted, sorted + 2, +moved, +begins, 10,
                                    Negative(), Small());
  });
  EXPECT_EQ((std::vector<int>{-3, -8, 1, 0, 4, 2, 0, 0, 0, 0}), sorted.get());
  EXPECT_EQ((std::vector<int>{5, 9, 7, 7, 0, 0, 0, 0, 0, 0}), moved.get());
  EXPECT_EQ((std::vector<int>{2, 4, 4}), begins.get());
}

TEST_F(Segments, RunsOfEqualKeys) {
  keys.set({1, 1, 1, 4, 4, 1, 2, 2, 2, 2});
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSelect::UniqueByKey(memory, bytes, +keys, +values, +sorted, +moved, +begins,
                                          10);
  });
  EXPECT_EQ(4, begins.get()[0]);
  EXPECT_EQ((std::vector<int>{1, 4, 1, 2, 0, 0, 0, 0, 0, 0}), sorted.get());
  EXPECT_EQ((std::vector<int>{0, 3, 5, 6, 0, 0, 0, 0, 0, 0}), moved.get());
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScanByKey(memory, bytes, +keys, +values, +moved, cub::Sum(),
                                               10);
  });
  EXPECT_EQ((std::vector<int>{0, 1, 3, 3, 7, 5, 6, 13, 21, 30}), moved.get());
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScanByKey(memory, bytes, +keys, +values, +moved, cub::Max(),
                                               -1, 10);
  });
  EXPECT_EQ((std::vector<int>{-1, 0, 1, -1, 3, -1, -1, 6, 7, 8}), moved.get());
}

TEST_F(Segments, MergeSortKeepsItsInput) {
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceMergeSort::SortKeysCopy(memory, bytes, +keys, +sorted, 10, Larger());
  });
  EXPECT_EQ(kKeys, keys.get());
  EXPECT_EQ((std::vector<int>{9, 7, 7, 5, 4, 2, 1, 0, -3, -8}), sorted.get());
}

struct Double {
  __device__ void operator()(int& x) const { x *= 2; }
};
struct StoreSquare {
  int* out;
  __device__ void operator()(int i) const { out[i] = i * i; }
};

TEST_F(Segments, LoopsOverElementsAndIndices) {
  EXPECT_CUDA(cub::DeviceFor::ForEachN(+values, 10, Double()));
  EXPECT_CUDA(cub::DeviceFor::Bulk(10, StoreSquare{moved}));
  EXPECT_EQ(18, values.get()[9]);
  EXPECT_EQ(81, moved.get()[9]);
}

struct WeightedSum {
  __device__ int operator()(int x, int y) const { return 100 * x + y; }
};
struct IndexByAddress {
  const int* first;
  __device__ int operator()(const int& x) const { return static_cast<int>(&x - first); }
};

TEST_F(Segments, TransformsOneOrSeveralInputs) {
  DeviceArray<int> out(10);
  EXPECT_CUDA(cub::DeviceTransform::Transform(cuda::std::make_tuple(+keys, +values), +out, 10,
                                              WeightedSum()));
  EXPECT_EQ(100 * kKeys[9] + values.get()[9], out.get()[9]);
  EXPECT_CUDA(cub::DeviceTransform::TransformStableArgumentAddresses(+keys, +out, 10,
                                                                     IndexByAddress{keys}));
  EXPECT_EQ(9, out.get()[9]);
}

__global__ void scan_warp(int* out) {
  using Scan = cub::WarpScan<int>;
  __shared__ typename Scan::TempStorage storage;
  int with_own, before, total;
  Scan(storage).Scan(2, with_own, before, 100, cub::Sum());
  out[threadIdx.x] = with_own * 1000 + before;
  Scan(storage).Scan(2, with_own, before, cub::Sum());
  Scan(storage).ExclusiveScan(2, before, cub::Sum(), total);
  if (threadIdx.x == 31) out[0] = with_own * 1000 + before + total;
}

TEST(WarpScan, GivesBothSums) {
  DeviceArray<int> out(32);
  scan_warp<<<1, 32>>>(out);
  EXPECT_EQ(104102, out.get()[1]);
  EXPECT_EQ(64000 + 62 + 64, out.get()[0]);
}

TEST_F(Segments, FunctorsOfLibcuReduceWithoutAnotherHeader) {
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(memory, bytes, +keys, +moved, 10, cuda::std::plus<>{}, 0);
  });
  with_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(memory, bytes, +keys, moved + 1, 10, cuda::maximum<>{}, 0);
  });
  EXPECT_EQ(24, moved.get()[0]);
  EXPECT_EQ(9, moved.get()[1]);
}

}  // namespace
