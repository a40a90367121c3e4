// Checks the mean of the kicks v1 - v0 = a dt and of the drifts x1 - x0 = v1 dt. A change that is
// much smaller than the number it is added to may be wrong by several percent before this shows in
// the number's last digits, but then these digits are wrong more often in one direction.
#pragma once

#include <array>
#include <limits>

#include "physics/validation/systems.h"

namespace nbody {

// Compares numbers with the predicted ones, in units of their last digits and in the direction of
// their changes.
struct ChangeCount {
  double changes = 0;   // sum of the lengths of the changes
  double too_long = 0;  // sum of what the changes are too long, or if negative, too short
  double expected = 0;  // how much they may be too long because rates are rounded
  double variance = 0;  // of too_long, because of rounding

  double value() const { return relative_error(std::abs(too_long), changes); }
  double limit() const { return (expected + 8 * std::sqrt(variance) + 2) / changes; }
};

// Counts changes of a system by their size in units of the last digit, within factors of two. Then
// the many units of large changes do not hide an error of small ones.
template <class Real>
class MeanChange {
 public:
  using W = Wide<Real>;

  // The rates of two calls may differ by the relative error `rate_error`, and by that part of
  // `typical_rate` at random.
  MeanChange(W dt, double rate_error, W typical_rate)
      : dt_(dt), rate_error_(rate_error), typical_(std::abs(dt) * typical_rate) {}

  void count(Real before, Real rate, Real after) {
    const W change = dt_ * rate, size = std::abs(change);
    if (!(size > 0)) return;
    const W smallest = std::numeric_limits<Real>::min();
    const W largest = std::max({smallest, size, std::abs(W{before}), std::abs(W{after})});
    const W digit = std::scalbn(W{1}, std::ilogb(largest) - (kDigits - 1));
    const int length = std::clamp(std::ilogb(size / digit), 0, kDigits);
    ChangeCount& counted = counts_[static_cast<std::size_t>(length)];
    const W wrong = W{after} - static_cast<Real>(before + change);
    const auto random = static_cast<double>(rate_error_ * (size + typical_) / digit);
    counted.changes += static_cast<double>(size / digit);
    counted.too_long += static_cast<double>((change > 0 ? wrong : -wrong) / digit);
    counted.expected += static_cast<double>(rate_error_ * size / digit);
    // A program may add the change in several parts, and round each sum.
    counted.variance += 1 + random * random;
  }

  // Leaves out changes of fewer than 16 units of the last digit, because parts of these may be lost
  // in rounding, and changes for which the limit would be too wide.
  void report(Check& check) const {
    constexpr std::size_t kShortest = 4;
    for (std::size_t length = kShortest; length < counts_.size(); ++length) {
      const ChangeCount& counted = counts_[length];
      if (counted.changes > 0 && !(counted.limit() > kMaxLimit))
        check.keep_worse(counted.value(), counted.limit());
    }
  }

 private:
  static constexpr int kDigits = std::numeric_limits<Real>::digits;
  W dt_, rate_error_, typical_;
  std::array<ChangeCount, kDigits + 1> counts_;  // by the binary logarithm of a change in units
};

// Checks a time step. The velocities in `kicked` are the accelerations, which may differ by
// `force_error` in another call.
template <class Real>
void check_mean_change(Check& kick, Check& drift, const BasicSystems<Real>& before,
                       const BasicSystems<Real>& kicked, const BasicSystems<Real>& after, double dt,
                       double force_error) {
  std::vector<std::array<Check, 2>> checks(static_cast<std::size_t>(before.count), {kick, drift});
  for_each_system(before, [&](int s) {
    MeanChange<Real> kicks(dt, force_error, median_speed<Real>(kicked.system(s)));
    MeanChange<Real> drifts(dt, 4 * unit_roundoff<Real>, 0);
    for (std::size_t i = 0; i < before.system(s).size(); ++i) {
      const auto &old = before.system(s)[i], &rate = kicked.system(s)[i], &b = after.system(s)[i];
      kicks.count(old.vx, rate.vx, b.vx);
      kicks.count(old.vy, rate.vy, b.vy);
      kicks.count(old.vz, rate.vz, b.vz);
      drifts.count(old.x, b.vx, b.x);
      drifts.count(old.y, b.vy, b.y);
      drifts.count(old.z, b.vz, b.z);
    }
    kicks.report(checks[static_cast<std::size_t>(s)][0]);
    drifts.report(checks[static_cast<std::size_t>(s)][1]);
  });
  for (const auto& [kick_of_system, drift_of_system] : checks) {
    kick.keep_worse(kick_of_system.value, kick_of_system.limit);
    drift.keep_worse(drift_of_system.value, drift_of_system.limit);
  }
}

}  // namespace nbody
