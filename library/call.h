// A call of one of libnbody's functions, as library.cpp passes it to a device. Private to the
// library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "nbody.h"

namespace nbody::library {

enum class Quantity { accelerations, potential, jerk };

// Numbers per target: three for an acceleration, one for a potential, and three each for an
// acceleration and its jerk.
constexpr int width(Quantity quantity) {
  return quantity == Quantity::potential ? 1 : quantity == Quantity::jerk ? 6 : 3;
}

template <class Real>
struct Arrays {
  std::size_t count;
  const Real *positions, *velocities, *masses;  // null: not needed, or all values are zero
};

template <class Real>
struct Call {
  Quantity quantity;
  Arrays<Real> sources;
  std::optional<Arrays<Real>> targets;  // nullopt: the targets are the sources
  double softening;
  const nbody_options* options;
  Real *accelerations = nullptr, *potentials = nullptr, *jerks = nullptr;
  // The CUDA device that holds all arrays, if the caller knows it. Asking the driver takes as long
  // as a small kernel.
  int arrays_on = -1;
  const Arrays<Real>& at() const { return targets ? *targets : sources; }
};

// Checks the arguments and computes. Returns a result code of nbody.h, as the C functions do.
template <class Real>
int run(Call<Real> call);

constexpr double kLargest = 1e150;  // limit on the magnitude of every number in an array

// Units are powers of two, so dividing by them changes no digits. In these units, no square or cube
// of a value leaves the range of float32.
inline double unit_of(double largest) {
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) + 1) : 1;
}

// A unit of a result, a power of two, as two factors: the power itself may be outside the range of
// double although the result is within it.
struct Factors {
  double first = 1, second = 1;
};
inline Factors two_to_the(int exponent) {
  const auto power = [](int e) { return std::ldexp(1.0, std::clamp(e, -1022, 1023)); };
  return {power(exponent / 2), power(exponent - exponent / 2)};
}
struct ResultUnits {
  Factors force, potential, jerk;
  ResultUnits(double length, double mass, double speed) {
    const int l = std::ilogb(length), m = std::ilogb(mass), v = std::ilogb(speed);
    force = two_to_the(m - 2 * l);
    potential = two_to_the(m - l);
    jerk = two_to_the(m - 3 * l + v);
  }
};

// The smallest softening of the kernels, in scaled units. It is so large that a body's force on
// itself is zero times a finite number.
template <class Real>
constexpr double kLeastSoftening = sizeof(Real) == sizeof(float) ? 1e-12 : 1e-100;
template <class Real>
constexpr Real kLeastSquare = static_cast<Real>(kLeastSoftening<Real>* kLeastSoftening<Real>);

template <class Real>
Real softening_squared_of(double scaled) {
  const double softening = std::max(scaled, kLeastSoftening<Real>);
  return static_cast<Real>(softening * softening);
}

// Computes on the CUDA device that holds the arrays, or on the current device. Each array may be on
// the host or on the device. Returns a result code of nbody.h, which is NBODY_NO_DEVICE in a build
// without CUDA (no_device.cpp).
template <class Real>
int run_on_cuda(const Call<Real>& call);
void release_cuda_memory();

// For results that Python allocates. The functions allocate memory on the current device (null on
// failure), free this memory, and wait until all work in a stream has finished.
void* take_cuda_result(std::size_t bytes);
void return_cuda_result(void* memory);
bool wait_for_cuda(void* stream);

}  // namespace nbody::library
