#include "nbody/bodies.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

namespace nbody {
namespace {

constexpr std::size_t kMaxMasses = 8;

// The masses of a system, the heaviest first, or nothing where there are too many.
std::optional<std::vector<float>> masses_of(std::span<const Body> bodies) {
  std::vector<float> masses;
  for (const Body& body : bodies) {
    if (!masses.empty() && body.mass == masses.back()) continue;  // most follow one of their kind
    if (std::ranges::find(masses, body.mass) != masses.end()) continue;
    if (masses.size() == kMaxMasses) return std::nullopt;
    masses.push_back(body.mass);
  }
  std::ranges::sort(masses, std::greater{});
  return masses;
}

// The bodies' indices in their new order. Bodies of one kind stay in the order they had.
std::vector<int> grouped(std::span<const Body> bodies) {
  const auto masses = masses_of(bodies);
  const auto kind = [&](int k) {
    const float mass = bodies[static_cast<std::size_t>(k)].mass;
    return masses ? std::ranges::find(*masses, mass) - masses->begin() : mass == 0.0f ? 1 : 0;
  };
  std::vector<int> order(bodies.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::ranges::is_sorted(order, {}, kind)) std::ranges::stable_sort(order, {}, kind);
  return order;
}

}  // namespace

MassOrder::MassOrder(Systems& systems) : systems_(systems) {
  std::vector<int> from;
  for (int s = 0; s < systems.count; ++s) {
    const std::vector<int> order = grouped(systems.system(s));
    from.insert(from.end(), order.begin(), order.end());
  }
  const auto n = static_cast<std::size_t>(systems.bodies_per_system);
  const auto stays = [&](std::size_t k) { return static_cast<std::size_t>(from[k]) == k % n; };
  std::size_t k = 0;
  while (k < from.size() && stays(k)) ++k;
  if (k == from.size()) return;
  from_ = std::move(from);
  const std::vector<Body> before = systems.bodies;
  for (k = 0; k < from_.size(); ++k) {
    systems.bodies[k] = before[k / n * n + static_cast<std::size_t>(from_[k])];
  }
}

void MassOrder::restore() {
  const auto n = static_cast<std::size_t>(systems_.bodies_per_system);
  const std::vector<Body> ordered = systems_.bodies;
  for (std::size_t k = 0; k < from_.size(); ++k) {
    systems_.bodies[k / n * n + static_cast<std::size_t>(from_[k])] = ordered[k];
  }
}

std::vector<float> masses_of_tiles(const Systems& systems, int tile) {
  std::vector<float> masses;
  for (int s = 0; s < systems.count; ++s) {
    const std::span<const Body> bodies = systems.system(s);
    for (std::size_t first = 0; first < bodies.size(); first += static_cast<std::size_t>(tile)) {
      const auto size = std::min(static_cast<std::size_t>(tile), bodies.size() - first);
      const std::span<const Body> here = bodies.subspan(first, size);
      const float mass = here.front().mass;
      const bool full = here.size() == static_cast<std::size_t>(tile) || mass == 0.0f;
      const bool one = std::ranges::all_of(here, [&](const Body& b) { return b.mass == mass; });
      masses.push_back(full && one ? mass : -1.0f);
    }
  }
  return masses;
}

Body rounded(const BodyF64& body) {
  const auto narrow = [](double value) { return static_cast<float>(value); };
  return {narrow(body.x),  narrow(body.y),  narrow(body.z),   narrow(body.vx),
          narrow(body.vy), narrow(body.vz), narrow(body.mass)};
}

BodyF64 widened(const Body& body) {
  return {body.x, body.y, body.z, body.vx, body.vy, body.vz, body.mass};
}

}  // namespace nbody
