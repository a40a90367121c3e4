// Every operation must really wait for the previous operation, and chains of any length must be
// measurable.
#include "latencies.h"

#include <set>

#include "experiments/on_a_device.h"

namespace latencies {
namespace {

using Latencies = experiments::OnADevice<platform>;

TEST_F(Latencies, NothingIsSeenTooEarly) {
  for (const Latency& latency : all_latencies()) {
    const auto chain = latency.make();
    for (const int operations : {1, 2, 37}) {
      EXPECT_EQ(chain->wrong(operations), 0u)
          << latency.name << ", " << latency.shape.blocks << " blocks of " << latency.shape.threads
          << ", " << operations << " operations";
    }
  }
}

TEST_F(Latencies, EachIsMeasured) {
  for (const Latency& latency : all_latencies()) {
    const auto chain = latency.make();
    EXPECT_EQ(measure(*chain, 5, 1, 3).size(), 3u) << latency.name;
    EXPECT_EQ(chain->wrong(3), 0u) << latency.name << ", after it was timed";
  }
}

TEST_F(Latencies, NoTwoHaveOneNameAndOneShape) {
  std::set<std::string> keys;
  for (const Latency& latency : all_latencies()) {
    const auto& [blocks, threads, cluster] = latency.shape;
    EXPECT_TRUE(keys.insert(latency.name + ' ' + std::to_string(blocks) + ' ' +
                            std::to_string(threads) + ' ' + std::to_string(cluster))
                    .second)
        << latency.name;
  }
  EXPECT_GE(keys.size(), 10u);
}

}  // namespace
}  // namespace latencies
