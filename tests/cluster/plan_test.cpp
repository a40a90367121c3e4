// Checks that each pair of segments is computed exactly once, and that each sum of forces reaches
// the rank that keeps the bodies on which the forces act.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nbody/cluster.h"
#include "nbody/cuda.h"

namespace {

// The generated plans.h includes step 14's plan and wrong variants of it, each in its own
// namespace. Include guards protect shared headers.
template <class P, class S>
struct Of {
  using Plan = P;
  using Slots = S;
};
#include "plans.h"

struct Name {
  template <class>
  static std::string GetName(int k) {
    return kNames[k];
  }
};

struct Problem {
  int systems, n, tile, ranks;
  nbody::Distribution asked;
};

void PrintTo(const Problem& p, std::ostream* out) {
  *out << p.systems << " systems of " << p.n << " bodies in tiles of " << p.tile << " on "
       << p.ranks << " ranks, distribution " << static_cast<int>(p.asked);
}

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const int ranks : {1, 2, 3, 4, 7, 64})
    for (const auto asked : {nbody::Distribution::bodies, nbody::Distribution::systems})
      for (const auto& [systems, n, tile] : std::vector<std::array<int, 3>>{{1, 1, 64},
                                                                            {1, 130, 64},
                                                                            {1, 2111, 64},
                                                                            {1, 20011, 64},
                                                                            {3, 257, 64},
                                                                            {33, 65, 64},
                                                                            {5, 1000, 32}})
        all.push_back({systems, n, tile, ranks, asked});
  return all;
}

template <class Types>
struct APlan : testing::Test {
  // Calls test(plan) for many problems. If a test fails, the message gives the problem.
  template <class Test>
  static void with_every_problem(Test test) {
    for (const Problem& p : problems()) {
      SCOPED_TRACE(testing::PrintToString(p));
      nbody::ranks().asked = p.asked;
      test(typename Types::Plan(p.systems, p.n, p.tile, p.ranks));
      if (HasFailure()) return;  // stops at the first failing problem
    }
  }
};
TYPED_TEST_SUITE(APlan, Plans, Name);

TYPED_TEST(APlan, LetsEveryPairOfSegmentsMeetOnce) {
  this->with_every_problem([](const auto& plan) {
    std::map<std::pair<int, int>, int> met;
    for (const auto& [row, column, rank] : plan.meetings) {
      EXPECT_TRUE(rank >= 0 && rank < plan.ranks);
      EXPECT_EQ(row / plan.segments, column / plan.segments) << "of one system";
      ++met[std::minmax(row, column)];
    }
    for (int s = 0; s < plan.systems * plan.segments; ++s)
      for (int other = s; other / plan.segments == s / plan.segments; ++other)
        EXPECT_EQ((met[{s, other}]), 1) << s << " and " << other;
  });
}

TYPED_TEST(APlan, KeepsEveryBodyOnce) {
  this->with_every_problem([](const auto& plan) {
    const std::vector<size_t> first = plan.first_bodies();
    EXPECT_EQ(first.front(), 0u);
    EXPECT_EQ(first.back(), static_cast<size_t>(plan.systems) * plan.n);
    std::vector<size_t> bodies(plan.ranks);
    for (int s = 0; s < plan.systems * plan.segments; ++s)
      bodies.at(plan.keeper(s)) += plan.bodies_in(s);
    for (int rank = 0; rank < plan.ranks; ++rank)
      EXPECT_EQ(first[rank + 1] - first[rank], bodies[rank]);
  });
}

TYPED_TEST(APlan, DistributesTheWorkEvenly) {
  this->with_every_problem([](const auto& plan) {
    if (plan.by_systems) return;
    std::vector<double> work(plan.ranks);
    double all = 0, largest = 0;
    for (const auto& [row, column, rank] : plan.meetings) {
      const double tiles = row == column ? plan.tiles_in(row) * (plan.tiles_in(row) + 1) / 2
                                         : plan.tiles_in(row) * plan.tiles_in(column);
      work.at(rank) += tiles;
      all += tiles;
      largest = std::max(largest, tiles);
    }
    for (const double one : work) EXPECT_LE(one, all / plan.ranks + largest);
  });
}

// In this test, a "sum" is the pair (owner, source), which is delivered like the cluster's
// messages.
TYPED_TEST(APlan, BringsEverySumToTheRankThatKeepsItsBodies) {
  this->with_every_problem([](const auto& plan) {
    ASSERT_LT(plan.keeper(plan.systems * plan.segments - 1), plan.ranks);
    std::vector<std::vector<float3>> sums;
    std::map<std::pair<int, int>, std::vector<nbody::Message>> sent, received;  // key: {from, to}
    std::vector<typename TypeParam::Slots> slots;
    for (int rank = 0; rank < plan.ranks; ++rank) {
      slots.emplace_back(plan, rank);
      sums.emplace_back(slots.back().count);
      size_t mine = 0;
      for (const auto& [row, column, computes] : plan.meetings) {
        if (computes != rank) continue;
        const int of_row = slots.back().of_row[mine], of_column = slots.back().of_column[mine];
        ++mine;
        sums[rank].at(of_row) = {1.0f * row, 1.0f * column, 1};
        EXPECT_EQ(of_column < 0, row == column);
        if (of_column >= 0) sums[rank].at(of_column) = {1.0f * column, 1.0f * row, 1};
      }
      std::vector<nbody::Message> out, in;
      slots.back().add_messages(sums.back().data(), 1, rank, out, in);
      for (const nbody::Message& m : out) sent[{rank, m.peer}].push_back(m);
      for (const nbody::Message& m : in) received[{m.peer, rank}].push_back(m);
    }
    ASSERT_EQ(sent.size(), received.size());
    for (const auto& [way, messages] : sent) {
      ASSERT_EQ(messages.size(), received[way].size());
      for (size_t k = 0; k < messages.size(); ++k) {
        ASSERT_EQ(messages[k].bytes, received[way][k].bytes) << way.first << " to " << way.second;
        std::memcpy(received[way][k].data, messages[k].data, messages[k].bytes);
      }
    }
    for (int s = 0; s < plan.systems * plan.segments; ++s) {
      const int rank = plan.keeper(s), first = s / plan.segments * plan.segments;
      for (int k = 0; k < plan.segments; ++k) {
        const int slot = slots[rank].of_sum.at((s - rank * plan.kept) * plan.segments + k);
        const float3 sum = sums[rank].at(slot);
        ASSERT_TRUE(sum.x == 1.0f * s && sum.y == 1.0f * (first + k) && sum.z == 1)
            << "segment " << s << " gets (" << sum.x << ", " << sum.y << ") for " << first + k;
      }
    }
  });
}

}  // namespace
