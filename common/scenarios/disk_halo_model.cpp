#include "scenarios/disk_halo_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "scenarios/portable_math.h"

namespace nbody::generators {
namespace {

constexpr double kPi = std::numbers::pi;

// Modified Bessel functions (Abramowitz & Stegun 9.6). I is summed as a power series, whose terms
// are all positive. K0 is the integral of exp(-y cosh t) over t > 0, and K1 is the integral of
// exp(-y cosh t) cosh t. For these integrals the trapezoidal rule converges exponentially; with
// this spacing it is exact to the last bit.
struct Bessel {
  double i0 = 0, i1 = 0, k0 = 0, k1 = 0;
};
Bessel bessel(double y) {
  Bessel value;
  double term = 1;  // (y/2)^2k / k!^2
  for (int k = 0; term > 1e-18 * value.i0; ++k) {
    value.i0 += term;
    value.i1 += term * (y / 2) / (k + 1);
    term *= y * y / 4 / ((k + 1.0) * (k + 1.0));
  }
  constexpr double kSpacing = 0.25;
  for (int k = 0;; ++k) {
    const double e = portable::exp(k * kSpacing);
    const double cosh = (e + 1 / e) / 2;
    if (y * cosh > 100) break;
    const double weight = (k == 0 ? 0.5 : 1) * kSpacing * portable::exp(-y * cosh);
    value.k0 += weight;
    value.k1 += weight * cosh;
  }
  return value;
}

double surface_density(double radius) { return portable::exp(-radius) / (2 * kPi); }

double hernquist_density(double r, double scale) {  // up to a constant factor, which cancels out
  const double sum = r + scale;
  return 1 / (r * sum * sum * sum);
}

}  // namespace

DiskHaloModel::DiskHaloModel(const Parameters& parameters) : parameters_(parameters) {
  constexpr double kWhereToomreHolds = 2, kToomre = 3.36;
  const double kappa = std::sqrt(rotation(kWhereToomreHolds).epicyclic_frequency_squared);
  sigma_radial_scale_ = parameters.toomre * kToomre * surface_density(kWhereToomreHolds) / kappa /
                        profile_of_sigma_radial(kWhereToomreHolds);
  tabulate_halo();
}

double DiskHaloModel::halo_mass_within(double r) const {
  const double ratio = r / (r + parameters_.halo_scale);
  return parameters_.halo_mass * ratio * ratio;
}

double DiskHaloModel::disk_mass_within(double r) { return 1 - (1 + r) * portable::exp(-r); }

DiskHaloModel::Rotation DiskHaloModel::rotation(double radius) const {
  const double y = radius / 2;
  const Bessel b = bessel(y);
  const double disk = 2 * y * y * (b.i0 * b.k0 - b.i1 * b.k1);
  const double disk_slope = 2 * (y * b.i0 * b.k0 + y * y * (b.i1 * b.k0 - b.i0 * b.k1));

  const double a = parameters_.halo_scale, sum = radius + a;
  const double halo = halo_mass_within(radius) / radius;
  const double halo_slope = parameters_.halo_mass * (a - radius) / (sum * sum * sum);

  const double v2 = disk + halo, omega2 = v2 / (radius * radius);
  return {v2, omega2, 2 * omega2 + (disk_slope + halo_slope) / radius};
}

double DiskHaloModel::profile_of_sigma_radial(double radius) const {
  constexpr double kSoftening = 0.25;  // Hernquist's value; flattens the dispersion in the centre
  return portable::exp(-std::sqrt(radius * radius + 2 * kSoftening * kSoftening) / 2);
}

DiskHaloModel::DiskVelocities DiskHaloModel::disk_velocities(double radius) const {
  const Rotation r = rotation(radius);
  const double sigma = sigma_radial_scale_ * profile_of_sigma_radial(radius);
  const double ratio = r.epicyclic_frequency_squared / (4 * r.angular_frequency_squared);
  const double mean_squared =
      r.circular_velocity_squared + sigma * sigma * (1 - ratio - 2 * radius);
  return {std::sqrt(std::max(mean_squared, 0.0)), sigma, sigma * std::sqrt(ratio),
          std::sqrt(kPi * surface_density(radius) * kDiskThickness)};
}

// Tabulates the pressure of the halo and the potential. Both are integrated inwards from the halo's
// cut-off radius, by the trapezoidal rule in log r.
void DiskHaloModel::tabulate_halo() {
  constexpr int kRows = 1024;
  const double a = parameters_.halo_scale;
  const double first = portable::log(1e-4 * a), last = portable::log(halo_cut());
  const double spacing = (last - first) / (kRows - 1);
  halo_.resize(kRows);
  double pressure = 0;  // rho sigma^2 = integral of rho M / r^2
  double potential = (halo_mass_within(halo_cut()) + disk_mass_within(halo_cut())) / halo_cut();
  double pressure_before = 0, potential_before = 0;
  for (int row = kRows - 1; row >= 0; --row) {
    const double log_r = first + row * spacing, r = portable::exp(log_r);
    const double force_r = (halo_mass_within(r) + disk_mass_within(r)) / r;
    const double density = hernquist_density(r, a);
    if (row < kRows - 1) {
      pressure += 0.5 * spacing * (density * force_r + pressure_before);
      potential += 0.5 * spacing * (force_r + potential_before);
    }
    pressure_before = density * force_r;
    potential_before = force_r;
    halo_[static_cast<std::size_t>(row)] = {log_r, pressure / density, 2 * potential};
  }
}

DiskHaloModel::HaloVelocities DiskHaloModel::halo_velocities(double r) const {
  const double spacing = halo_[1].log_r - halo_[0].log_r;
  const double place = (portable::log(r) - halo_[0].log_r) / spacing;
  const double clamped = std::clamp(place, 0.0, static_cast<double>(halo_.size() - 2));
  const auto row = static_cast<std::size_t>(clamped);
  const double t = std::clamp(place - static_cast<double>(row), 0.0, 1.0);
  const auto between = [t](double low, double high) { return low + t * (high - low); };
  const Row &low = halo_[row], &high = halo_[row + 1];
  return {std::sqrt(between(low.sigma_squared, high.sigma_squared)),
          std::sqrt(between(low.escape_squared, high.escape_squared))};
}

}  // namespace nbody::generators
