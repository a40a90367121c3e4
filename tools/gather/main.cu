// nbody-gather measures how fast a cluster gathers its positions, and prints the same columns as
// nccl-tests.
//
//   mpirun -n 4 nbody-gather [LARGEST_MIB]
//
// algbw is the size divided by the time. busbw, which is algbw (n - 1) / n for n ranks, is the rate
// on the links; for any n, this rate can be compared with the links' limit.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "nbody/cluster.h"
#include "nbody/cuda.h"
#include "nbody/error.h"
#include "nbody/stopwatch.h"
#include "support/text.h"

namespace {

constexpr std::size_t kSmallest = std::size_t{64} << 10;
constexpr int kRepeats = 20;

double seconds_of_gather(nbody::Cluster& cluster, char* memory, std::size_t part) {
  std::vector<double> times;
  for (int k = 0; k < kRepeats + 3; ++k) {
    CUDA_CHECK(cudaDeviceSynchronize());
    const nbody::Stopwatch stopwatch;
    cluster.all_gather(memory, part);
    CUDA_CHECK(cudaDeviceSynchronize());
    if (k >= 3) times.push_back(stopwatch.seconds());  // the first three include set-up
  }
  std::ranges::nth_element(times, times.begin() + kRepeats / 2);
  return times[kRepeats / 2];
}

void measure(nbody::Cluster& cluster, std::size_t largest) {
  const auto ranks = static_cast<std::size_t>(cluster.count());
  const nbody::DeviceArray<char> memory(largest + 1024 * ranks);
  CUDA_CHECK(cudaMemset(memory.get(), cluster.rank(), memory.bytes()));
  if (cluster.is_root())
    std::printf("# %zu ranks, %s; median of %d\n%12s %12s %10s %14s %14s\n", ranks,
                nbody::ranks().transport.c_str(), kRepeats, "size (B)", "bodies", "time (us)",
                "algbw (GB/s)", "busbw (GB/s)");
  for (std::size_t size = kSmallest; size <= largest; size *= 4) {
    const std::size_t part = (size / ranks + 1023) / 1024 * 1024, all = part * ranks;
    const double seconds = seconds_of_gather(cluster, memory.get(), part);
    const double rate = static_cast<double>(all) / seconds * 1e-9;
    if (cluster.is_root())
      std::printf("%12zu %12zu %10.1f %14.2f %14.2f\n", all, all / 16, seconds * 1e6, rate,
                  rate * static_cast<double>(ranks - 1) / static_cast<double>(ranks));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::puts("mpirun -n RANKS nbody-gather [LARGEST_MIB]: times gathers of up to this size [256]");
    return 0;
  }
  return nbody::run_on_ranks("nbody-gather", nbody::query_device, argc, argv, [&] {
    const auto asked = nbody::parse_whole<int>(argc > 1 ? argv[1] : "256");
    if (argc > 2 || !asked || *asked < 1 || *asked > 65536)
      throw nbody::UsageError(
          "nbody-gather takes one argument, the largest size in MiB: 1 to 65536");
    measure(nbody::cluster(), static_cast<std::size_t>(*asked) << 20);
    return 0;
  });
}
