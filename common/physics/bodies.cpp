#include "nbody/bodies.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace nbody {
namespace {

constexpr std::size_t kMaxMasses = 8;

// Returns the different masses of a system's bodies, in the order in which they first appear.
// Returns nothing if it is useless to group the bodies: if there are too many different masses, or
// if bodies of equal mass are already contiguous.
std::vector<float> masses_to_group(std::span<const Body> bodies) {
  std::vector<float> masses;
  bool in_pieces = false;
  const Body* before = nullptr;
  for (const Body& body : bodies) {
    const bool goes_on = before && body.mass == before->mass;
    before = &body;
    if (goes_on) continue;
    if (std::ranges::find(masses, body.mass) != masses.end()) {
      in_pieces = true;
      continue;
    }
    if (masses.size() == kMaxMasses) return {};
    masses.push_back(body.mass);
  }
  return in_pieces ? masses : std::vector<float>{};
}

// Returns, for each system, the masses by which its bodies are grouped.
std::vector<std::vector<float>> all_masses_to_group(const Systems& systems) {
  std::vector<std::vector<float>> masses(static_cast<std::size_t>(systems.count));
  // Runs in parallel because one core needs 4 ms for two million bodies. In 4 ms, four GPUs take
  // two time steps.
#pragma omp parallel for schedule(static) if (systems.bodies.size() > 100000)
  for (int s = 0; s < systems.count; ++s)
    masses[static_cast<std::size_t>(s)] = masses_to_group(systems.system(s));
  return masses;
}

}  // namespace

template <class Real>
template <class Key>
void BodyOrder<Real>::sort(int system, const Key& key) {
  if (from_.empty()) {
    from_.resize(systems_.bodies.size());
    std::iota(from_.begin(), from_.end(), std::size_t{0});
  }
  const std::size_t n = systems_.system(system).size();
  std::ranges::stable_sort(std::span(from_).subspan(static_cast<std::size_t>(system) * n, n), {},
                           [&](std::size_t k) { return key(systems_.bodies[k]); });
}

// Moves the bodies in place, because a copy would double the memory. The new order is a
// permutation, which consists of cycles; the bodies of each cycle are moved by swaps of two bodies.
template <class Real>
void BodyOrder<Real>::move_all(bool back) {
  std::vector<bool> done(from_.size());
  for (std::size_t first = 0; first < from_.size(); ++first) {
    for (std::size_t k = first; !done[k]; k = from_[k]) {
      done[k] = true;
      if (from_[k] != first)
        std::swap(systems_.bodies[back ? first : k], systems_.bodies[from_[k]]);
    }
  }
}

MassOrder::MassOrder(Systems& systems) : BodyOrder(systems) {
  const auto to_group = all_masses_to_group(systems);
  for (int s = 0; s < systems.count; ++s) {
    const std::vector<float>& masses = to_group[static_cast<std::size_t>(s)];
    if (masses.empty()) continue;
    sort(s,
         [&](const Body& body) { return std::ranges::find(masses, body.mass) - masses.begin(); });
  }
  move_all();
}

bool MassOrder::is_needed(const Systems& systems) {
  return !std::ranges::all_of(all_masses_to_group(systems), &std::vector<float>::empty);
}

template <class Real>
MassiveFirst<Real>::MassiveFirst(BasicSystems<Real>& systems) : BodyOrder<Real>(systems) {
  const auto massless = [](const BasicBody<Real>& body) { return body.mass == 0; };
  for (int s = 0; s < systems.count; ++s) {
    const auto bodies = std::as_const(systems).system(s);
    const auto light = std::ranges::count_if(bodies, massless);
    sources_ = std::max(sources_, static_cast<int>(std::ssize(bodies) - light));
    if (!std::ranges::is_partitioned(bodies, std::not_fn(massless))) this->sort(s, massless);
  }
  this->move_all();
}
template class BodyOrder<float>;
template class BodyOrder<double>;
template class MassiveFirst<float>;
template class MassiveFirst<double>;

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
