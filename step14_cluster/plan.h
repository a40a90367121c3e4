// Decides which rank keeps which bodies, and which rank computes which pairs. Every rank makes
// the same plan. The bits of the result must not depend on the number of ranks, so the order of
// additions must not depend on that number. Therefore each system is divided into segments that
// depend only on its size. A pair of segments is a unit. One rank computes a unit, with a sum of
// forces for each of the two segments. The ranks that keep the bodies add these sums in the order
// of the segments.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "nbody/cluster.h"

namespace plan {

constexpr int kSegments = TUNABLE(SEGMENTS, 32);  // in all systems together; each has at least one

// A pair of segments. Segments are numbered consecutively over all systems.
struct Meeting {
  int row, column;
  int rank;  // rank that computes the pair
};

struct Plan {
  int systems, n, ranks;
  bool by_systems;  // each rank keeps whole systems
  int tiles;        // tiles per segment, including padding in a system's last segment
  int segment;      // bodies per segment
  int segments;     // segments per system
  int kept;         // segments that a rank keeps
  std::vector<Meeting> meetings = {};

  Plan(int systems, int n, int tile, int ranks);
  int tile() const { return segment / tiles; }
  bool same_sizes(const Plan& other) const {
    return systems == other.systems && n == other.n && segment == other.segment &&
           tiles == other.tiles && by_systems == other.by_systems;
  }
  int keeper(int segment_of_all) const { return segment_of_all / kept; }
  // Returns the number of real bodies, without the padding.
  int bodies_in(int segment_of_all) const {
    return std::clamp(n - segment_of_all % segments * segment, 0, segment);
  }
  // A tile with one body counts as a full tile, because it takes as long.
  int tiles_in(int segment_of_all) const { return (bodies_in(segment_of_all) - 1) / tile() + 1; }
  // Returns, for each rank, the first body that it keeps, in the order of the input.
  std::vector<size_t> first_bodies() const;

 private:
  void let_meet();
};

// Prefers whole systems, which need no messages, if no other distribution was requested and whole
// systems take at most 5 % longer.
inline bool distribute_systems(int systems, int ranks) {
  const double one_by_one = std::ceil(1.0 * systems / ranks) * ranks / systems;
  const nbody::Distribution asked = nbody::ranks().asked;
  const bool by_systems = asked == nbody::Distribution::automatic
                              ? one_by_one < 1.05
                              : asked == nbody::Distribution::systems;
  nbody::ranks().distribution = by_systems ? "systems" : "bodies";
  return by_systems;
}

inline Plan::Plan(int systems, int n, int tile, int ranks)
    : systems(systems), n(n), ranks(ranks), by_systems(distribute_systems(systems, ranks)) {
  const int all = (n - 1) / tile + 1, wanted = std::clamp(kSegments / systems, 1, all);
  tiles = (all - 1) / wanted + 1;
  segment = tiles * tile;
  segments = (all - 1) / tiles + 1;
  kept = by_systems ? ((systems - 1) / ranks + 1) * segments : (systems * segments - 1) / ranks + 1;
  let_meet();
}

// The segments of a system form a ring. Each is paired with itself and with the segments up to half
// the ring ahead; two segments exactly half the ring apart form only one pair. The ranks get equal
// parts of the list of pairs, so most of a rank's work is for segments that it keeps.
inline void Plan::let_meet() {
  const auto work = [&](const Meeting& m) -> double {
    const int row = tiles_in(m.row), column = tiles_in(m.column);
    return m.row == m.column ? row * (row + 1) / 2 : row * column;
  };
  double all = 0, before = 0;
  for (int s = 0; s < systems; ++s) {
    for (int row = 0; row < segments; ++row) {
      for (int offset = 0; offset <= segments / 2; ++offset) {
        const int column = (row + offset) % segments;
        if (2 * offset == segments && column < row) continue;
        meetings.push_back({s * segments + row, s * segments + column, 0});
        all += work(meetings.back());
      }
    }
  }
  for (Meeting& m : meetings) {
    const double middle = before + work(m) / 2;
    m.rank =
        by_systems ? keeper(m.row) : std::min(static_cast<int>(middle / all * ranks), ranks - 1);
    before += work(m);
  }
}

inline std::vector<size_t> Plan::first_bodies() const {
  std::vector<size_t> first;
  for (int r = 0; r <= ranks; ++r) {
    const int at = std::min(r * kept, systems * segments);
    first.push_back(static_cast<size_t>(at / segments) * n + at % segments * segment);
  }
  return first;
}

// The places of force sums in an array of segments. First come the sums that this rank computes,
// grouped by the rank that needs them, then the sums that it receives, grouped by sender. Sender
// and receiver both put the sums of a message in the order of the pairs of segments.
struct Slots {
  std::vector<int> of_row, of_column;           // per pair of this rank; -1: paired with itself
  std::vector<int> of_sum;                      // [kept segment][segment of its system]
  std::vector<int> first_sent, first_received;  // per rank, and one past the last
  int count = 0;

  // Appends, to `sent` and `received`, the messages that exchange the force sums in `sums`. Sums
  // that stay on this rank are not sent.
  void add_messages(float3* sums, size_t segment, int rank, std::vector<nbody::Message>& sent,
                    std::vector<nbody::Message>& received) const;

  Slots(const Plan& plan, int rank);
};

inline Slots::Slots(const Plan& plan, int rank) {
  const int own = rank * plan.kept;
  of_sum.resize(static_cast<size_t>(plan.kept) * plan.segments);
  // The sum of the forces of `from` on the bodies of `to` takes the next place.
  const auto place = [&](int to, int from) {
    if (plan.keeper(to) == rank) of_sum[(to - own) * plan.segments + from % plan.segments] = count;
    return count++;
  };
  std::vector<Meeting> mine;
  std::ranges::copy_if(plan.meetings, std::back_inserter(mine),
                       [&](const Meeting& m) { return m.rank == rank; });
  of_row.resize(mine.size());
  of_column.resize(mine.size(), -1);
  for (int peer = 0; peer < plan.ranks; ++peer) {
    first_sent.push_back(count);
    for (size_t k = 0; k < mine.size(); ++k) {
      const auto [row, column, computes] = mine[k];
      if (plan.keeper(row) == peer) of_row[k] = place(row, column);
      if (row != column && plan.keeper(column) == peer) of_column[k] = place(column, row);
    }
  }
  first_sent.push_back(count);
  for (int peer = 0; peer < plan.ranks; ++peer) {
    first_received.push_back(count);
    for (const auto& [row, column, computes] : plan.meetings) {
      if (computes != peer || peer == rank) continue;
      if (plan.keeper(row) == rank) place(row, column);
      if (row != column && plan.keeper(column) == rank) place(column, row);
    }
  }
  first_received.push_back(count);
}

inline void Slots::add_messages(float3* sums, size_t segment, int rank,
                                std::vector<nbody::Message>& sent,
                                std::vector<nbody::Message>& received) const {
  const auto add = [&](std::vector<nbody::Message>& to, const std::vector<int>& first, int peer) {
    const size_t slots = first[peer + 1] - first[peer];
    if (peer != rank && slots > 0)
      to.push_back({peer, sums + first[peer] * segment, slots * segment * sizeof(float3)});
  };
  for (int peer = 0; peer + 1 < static_cast<int>(first_sent.size()); ++peer) {
    add(sent, first_sent, peer);
    add(received, first_received, peer);
  }
}

// Two segments that this rank pairs: their first bodies in the array of positions, their non-empty
// tiles, and where their sums go (Slots).
struct Unit {
  size_t row, column;
  int row_tiles, column_tiles, row_slot, column_slot;
};

// Returns the units of a rank, whose array of positions starts with segment `first`.
inline std::vector<Unit> units_of(const Plan& plan, const Slots& slots, int rank, int first) {
  std::vector<Unit> units;
  const auto place = [&](int s) { return static_cast<size_t>(s - first) * plan.segment; };
  for (const auto& [row, column, computes] : plan.meetings) {
    if (computes != rank) continue;
    units.push_back({place(row), place(column), plan.tiles_in(row), plan.tiles_in(column),
                     slots.of_row[units.size()], slots.of_column[units.size()]});
  }
  return units;
}

}  // namespace plan
