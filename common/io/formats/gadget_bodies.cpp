#include "io/formats/gadget_bodies.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

template <class Value>
void permute(std::vector<Value>& values, const std::vector<std::size_t>& order) {
  if (values.empty()) return;
  std::vector<Value> permuted;
  permuted.reserve(values.size());
  for (const std::size_t i : order) permuted.push_back(values[i]);
  values = std::move(permuted);
}

}  // namespace

void GadgetUnits::take_out_hubble(const std::string& where, double hubble) {
  if (hubble == 0) return;
  if (!(hubble > 0.01 && hubble < 100))
    throw UsageError(where, ": HubbleParam is ", shortest(hubble),
                     "; it must be a number from 0.01 to 100");
  length /= hubble;
  mass_gm /= hubble;
}

GadgetBodies::GadgetBodies(const std::string& file, const GadgetUnits& from, const Units& to,
                           bool float64)
    : file_(file),
      length_(from.length / to.length),
      velocity_(from.velocity / to.velocity()),
      mass_(from.mass_gm / to.mass_gm),
      time_(from.length / from.velocity / to.time()),
      float64_(float64) {}

double GadgetBodies::time(double in_file) const {
  const double time = in_file * time_;
  if (!std::isfinite(time)) throw UsageError(file_, ": its time overflows");
  return time;
}

void GadgetBodies::add(const BodyF64& b, Species species) {
  const BodyF64 exact{b.x * length_,    b.y * length_,    b.z * length_, b.vx * velocity_,
                      b.vy * velocity_, b.vz * velocity_, b.mass * mass_};
  const Body body = rounded(exact);
  check_body(file_, bodies_.size(), body);
  check_body(file_, bodies_.size(), exact);
  bodies_.push_back(body);
  if (float64_) exact_.push_back(exact);
  species_.push_back(species);
}

void GadgetBodies::move_to(Contents& contents) {
  std::vector<std::size_t> order(ids_.size() == bodies_.size() ? ids_.size() : 0);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto id_of = [&](std::size_t i) { return ids_[i]; };
  std::ranges::sort(order, {}, id_of);
  const bool unique = std::ranges::adjacent_find(order, {}, id_of) == order.end();
  if (!order.empty() && unique) {
    permute(bodies_, order);
    permute(exact_, order);
    permute(species_, order);
  }
  contents.bodies = std::move(bodies_);
  contents.exact = std::move(exact_);
  contents.species = std::move(species_);
}

}  // namespace nbody::formats
