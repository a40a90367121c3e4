// Tests tiles that are larger than a warp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "support.h"

namespace {

namespace tile_groups = cooperative_groups;

template <unsigned kSize>
__global__ void use_tile(int* out, unsigned* scans, int* others) {
  __shared__ tile_groups::block_tile_memory<256> memory;
  const auto block = tile_groups::this_thread_block(memory);
  const auto tile = tile_groups::tiled_partition<kSize>(block);
  const unsigned rank = block.thread_rank();
  out[rank] = 0;
  for (int round = 0; round < 3; ++round) {
    if (tile.meta_group_rank() % 2 && round == 2) break;  // other tiles need not take part
    out[rank] += tile_groups::reduce(tile, static_cast<int>(rank), tile_groups::plus<int>());
  }
  scans[rank] = tile_groups::exclusive_scan(tile, 1u) +
                1000 * tile_groups::inclusive_scan(tile, tile.thread_rank() % 2);
  others[rank] = tile.shfl(static_cast<int>(rank), 35) * 1000 +
                 tile.shfl_down(static_cast<int>(tile.thread_rank()), 33);
}

template <unsigned kSize>
void expect_tiles(int threads) {
  DeviceArray<int> out(threads), others(threads);
  DeviceArray<unsigned> scans(threads);
  use_tile<kSize><<<1, threads>>>(out, scans, others);
  EXPECT_CUDA(cudaDeviceSynchronize());
  const std::vector<int> got = out.get(), got_others = others.get();
  const std::vector<unsigned> got_scans = scans.get();
  for (int i = 0; i < threads; ++i) {
    const int size = kSize, tile = i / size, rank = i % size;
    const int rounds = tile % 2 ? 2 : 3;
    ASSERT_EQ(rounds * (size * tile * size + size * (size - 1) / 2), got[i]) << i;
    ASSERT_EQ(rank + 1000 * ((rank + 1) / 2), static_cast<int>(got_scans[i])) << i;
    const int below = rank + 33 < size ? rank + 33 : rank;
    ASSERT_EQ((tile * size + 35) * 1000 + below, got_others[i]) << i;
  }
}

TEST(LargeTiles, OfTwoWarps) { expect_tiles<64>(256); }
TEST(LargeTiles, OfFourWarps) { expect_tiles<128>(256); }
TEST(LargeTiles, OfTheWholeBlock) { expect_tiles<256>(256); }

__global__ void vote(int* out) {
  const auto tile = tile_groups::tiled_partition<64>(tile_groups::this_thread_block());
  out[threadIdx.x] = 10 * tile.any(threadIdx.x == 70) + tile.all(threadIdx.x < 100);
  static_assert(decltype(tile)::size() == 64);
}

TEST(LargeTiles, Votes) {
  DeviceArray<int> out(128);
  vote<<<1, 128>>>(out);
  const std::vector<int> got = out.get();
  EXPECT_EQ(1, got[5]);
  EXPECT_EQ(10, got[64]);
}

template <unsigned kSize>
__global__ void number_tiles(unsigned* out) {
  const auto tile = tile_groups::tiled_partition<kSize>(tile_groups::this_thread_block());
  const auto part = tile_groups::tiled_partition<8>(tile);
  out[threadIdx.x] =
      100 * tile.meta_group_rank() + 10 * part.meta_group_rank() + part.meta_group_size();
}

TEST(Tiles, ATileOfATileHasANumberWithinIt) {
  DeviceArray<unsigned> out(128);
  number_tiles<32><<<1, 128>>>(out);
  EXPECT_EQ(100u * 1 + 10 * 2 + 4, out.get()[32 + 2 * 8 + 3]);
  number_tiles<64><<<1, 128>>>(out);
  EXPECT_EQ(100u * 1 + 10 * 6 + 8, out.get()[64 + 6 * 8 + 3]);
}

// A tile whose type does not name its parent keeps its number.
__device__ unsigned number_of(const tile_groups::thread_block_tile<8>& part) {
  return 10 * part.meta_group_rank() + part.meta_group_size();
}

__global__ void number_converted_tiles(unsigned* out) {
  const auto block = tile_groups::this_thread_block();
  const auto warp = tile_groups::tiled_partition<32>(block);
  const tile_groups::thread_block_tile<32> any = warp;
  const tile_groups::thread_block_tile<64> large = tile_groups::tiled_partition<64>(block);
  out[threadIdx.x] = 10000 * large.meta_group_rank() + 1000 * any.meta_group_rank() +
                     number_of(tile_groups::tiled_partition<8>(warp));
}

TEST(Tiles, AConvertedTileKeepsItsNumber) {
  DeviceArray<unsigned> out(128);
  number_converted_tiles<<<1, 128>>>(out);
  EXPECT_EQ(10000u * 1 + 1000 * 3 + 10 * 2 + 4, out.get()[96 + 2 * 8 + 3]);
}

// Digits of the result: the ranks and sizes of the parts, and of the thread in its part.
template <class Group>
__device__ unsigned digits(const Group& part) {
  return 1000 * part.meta_group_rank() + 100 * part.meta_group_size() + 10 * part.size() +
         part.thread_rank();
}

__global__ void divide_coalesced(unsigned* out, int way) {
  out[threadIdx.x] = 0;
  if (threadIdx.x % 3 == 0) return;
  const auto active = tile_groups::coalesced_threads();  // lanes 1 2 4 5 7 8 ..., 21 of them
  if (way == 0) out[threadIdx.x] = digits(tile_groups::tiled_partition(active, 4));
  if (way == 1) out[threadIdx.x] = digits(tile_groups::labeled_partition(active, threadIdx.x / 8));
  if (way == 2) out[threadIdx.x] = digits(tile_groups::binary_partition(active, threadIdx.x < 5));
}

TEST(Tiles, PartsOfCoalescedThreadsHaveNumbers) {
  DeviceArray<unsigned> out(32);
  divide_coalesced<<<1, 32>>>(out, 0);
  EXPECT_EQ(1000u * 1 + 100 * 6 + 10 * 4 + 2, out.get()[10]);
  EXPECT_EQ(1000u * 5 + 100 * 6 + 10 * 1 + 0, out.get()[31]);
  divide_coalesced<<<1, 32>>>(out, 1);
  EXPECT_EQ(1000u * 1 + 100 * 4 + 10 * 5 + 1, out.get()[10]);
  divide_coalesced<<<1, 32>>>(out, 2);
  EXPECT_EQ(1000u * 1 + 100 * 2 + 10 * 3 + 2, out.get()[4]);
  EXPECT_EQ(1000u * 0 + 100 * 2 + 10 * 18 + 1, out.get()[7]);
}

__global__ void invoke_once(int* count, int* out) {
  const auto tile = tile_groups::tiled_partition<16>(tile_groups::this_thread_block());
  tile_groups::invoke_one(
      tile, [&](int more) { atomicAdd(count, more); }, 3);
  out[threadIdx.x] = tile_groups::invoke_one_broadcast(
      tile, [&] { return 10 + static_cast<int>(tile.meta_group_rank()); });
}

TEST(Tiles, OneThreadIsInvoked) {
  DeviceArray<int> count(1, 0), out(64);
  invoke_once<<<1, 64>>>(count, out);
  EXPECT_EQ(12, count.get()[0]);
  EXPECT_EQ(12, out.get()[47]);
}

__global__ void arrive_first(int* out) {
  __shared__ int values[64];
  const tile_groups::thread_block block = tile_groups::this_thread_block();
  const unsigned rank = tile_groups::thread_rank(block);
  values[rank] = static_cast<int>(rank);
  auto token = block.barrier_arrive();
  out[rank] = static_cast<int>(tile_groups::group_size(block));
  block.barrier_wait(std::move(token));
  out[rank] += values[63 - rank];
}

TEST(Tiles, BlockArrivesAndWaits) {
  DeviceArray<int> out(64);
  arrive_first<<<1, 64>>>(out);
  EXPECT_EQ(64 + 63, out.get()[0]);
  EXPECT_EQ(64, out.get()[63]);
}

}  // namespace
