// The C functions of libnbody. They check the arguments, choose units, and pass bodies to the
// kernels.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels.h"
#include "threads.h"

namespace nbody::library {
namespace {

constexpr std::size_t kMaxCount = 1'000'000'000;
bool is_within(double value, double low, double high) { return low <= value && value <= high; }

// Tests whether all values are within the range; a NaN is not.
template <class Real>
bool all_within(const Real* values, std::size_t count, double low, double high) {
  bool within = true;
  for (std::size_t k = 0; k < count; ++k)
    within &= is_within(static_cast<double>(values[k]), low, high);
  return within;
}

template <class Real>
int check_presence(const Arrays<Real>& arrays, bool moving) {
  if (arrays.count > kMaxCount) return NBODY_BAD_COUNT;
  if (arrays.count > 0 && (!arrays.positions || (moving && !arrays.velocities)))
    return NBODY_NO_ARRAY;
  return NBODY_OK;
}

template <class Real>
int check_values(const Arrays<Real>& arrays, bool moving) {
  if (!all_within(arrays.positions, 3 * arrays.count, -kLargest, kLargest))
    return NBODY_BAD_POSITION;
  if (moving && !all_within(arrays.velocities, 3 * arrays.count, -kLargest, kLargest))
    return NBODY_BAD_VELOCITY;
  return NBODY_OK;
}

int check(const nbody_options& options, Quantity quantity) {
  if (options.size != sizeof(nbody_options)) return NBODY_BAD_OPTION;
  if (options.threads < 0 || options.threads > kMostThreads) return NBODY_BAD_OPTION;
  if (options.device != NBODY_CPU && options.device != NBODY_CUDA) return NBODY_BAD_OPTION;
  if (options.method != NBODY_DIRECT && options.method != NBODY_TREE) return NBODY_BAD_OPTION;
  if (options.multipole != 0 && options.multipole != 2) return NBODY_BAD_OPTION;
  if (!is_within(options.theta, 0, 1) || !is_within(options.force_tolerance, 0, 1))
    return NBODY_BAD_OPTION;
  if (options.method == NBODY_TREE && quantity == Quantity::jerk) return NBODY_NO_TREE_JERK;
  return NBODY_OK;
}

// Checks everything that does not depend on the values in the arrays, because the arrays may be on
// a device.
template <class Real>
int check(const Call<Real>& call) {
  const bool moving = call.quantity == Quantity::jerk;
  if (const int wrong = check(*call.options, call.quantity)) return wrong;
  if (const int wrong = check_presence(call.sources, moving)) return wrong;
  if (call.sources.count > 0 && !call.sources.masses) return NBODY_NO_ARRAY;
  if (call.targets)
    if (const int wrong = check_presence(*call.targets, moving)) return wrong;
  if (!is_within(call.softening, 0, kLargest)) return NBODY_BAD_SOFTENING;
  const Real* const out = call.quantity == Quantity::potential ? call.potentials
                          : moving                             ? call.jerks
                                                               : call.accelerations;
  return call.at().count > 0 && !out ? NBODY_NO_ARRAY : NBODY_OK;
}

template <class Real>
int check_values(const Call<Real>& call) {
  const bool moving = call.quantity == Quantity::jerk;
  if (const int wrong = check_values(call.sources, moving)) return wrong;
  if (!all_within(call.sources.masses, call.sources.count, 0, kLargest)) return NBODY_BAD_MASS;
  return call.targets ? check_values(*call.targets, moving) : NBODY_OK;
}

struct Units {
  double length, mass, speed;
  double centre[3];  // subtracted from positions
};

template <class Real>
double largest_of(const Real* values, std::size_t count) {
  double largest = 0;
  for (std::size_t k = 0; k < count; ++k)
    largest = std::max(largest, std::abs(static_cast<double>(values[k])));
  return largest;
}

// Float64 positions that a tree rounds to float32 are measured from the median of a sample of the
// sources. Unlike the middle of all sources, it stays among most bodies if a few are far away, so
// that rounding does not take their digits.
template <class Real>
void choose_centre(const Arrays<Real>& sources, double* centre) {
  constexpr std::size_t kSample = 1000;
  const std::size_t step = (sources.count + kSample - 1) / kSample;
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> sample;
    for (std::size_t i = 0; i < sources.count; i += step)
      sample.push_back(static_cast<double>(sources.positions[3 * i + k]));
    const auto median = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
    std::nth_element(sample.begin(), median, sample.end());
    centre[k] = *median;
  }
}

template <class Real>
Units choose_units(const Call<Real>& call) {
  Units units{0, largest_of(call.sources.masses, call.sources.count), 0, {0, 0, 0}};
  if (call.options->method == NBODY_TREE && std::is_same_v<Real, double> && call.sources.count > 0)
    choose_centre(call.sources, units.centre);
  const auto include = [&](const Arrays<Real>& arrays) {
    for (std::size_t k = 0; k < 3 * arrays.count; ++k)
      units.length = std::max(
          units.length, std::abs(static_cast<double>(arrays.positions[k]) - units.centre[k % 3]));
    if (call.quantity == Quantity::jerk)
      units.speed = std::max(units.speed, largest_of(arrays.velocities, 3 * arrays.count));
  };
  include(call.sources);
  if (call.targets) include(*call.targets);
  units.length = unit_of(std::max(units.length, call.softening));
  units.mass = unit_of(units.mass);
  units.speed = unit_of(units.speed);
  return units;
}

// Copies the bodies whose indices are in `bodies` into columns, and converts them to `units`.
template <class To, class From>
Points<To> gather(const Arrays<From>& from, const std::vector<std::size_t>& bodies,
                  const Units& units, bool moving) {
  const std::size_t padded = (bodies.size() + kBlock - 1) / kBlock * kBlock;
  Points<To> to{.n = static_cast<int>(bodies.size())};
  for (auto* const column : {&to.x, &to.y, &to.z, &to.mass}) column->resize(padded);
  if (moving)
    for (auto* const column : {&to.vx, &to.vy, &to.vz}) column->resize(padded);
  for (std::size_t k = 0; k < padded; ++k) {
    const std::size_t i = bodies[std::min(k, bodies.size() - 1)];
    const auto scaled = [](From value, double centre, double unit) {
      return static_cast<To>((static_cast<double>(value) - centre) / unit);
    };
    to.x[k] = scaled(from.positions[3 * i], units.centre[0], units.length);
    to.y[k] = scaled(from.positions[3 * i + 1], units.centre[1], units.length);
    to.z[k] = scaled(from.positions[3 * i + 2], units.centre[2], units.length);
    if (from.masses && k < bodies.size()) to.mass[k] = scaled(from.masses[i], 0, units.mass);
    if (!moving) continue;
    to.vx[k] = scaled(from.velocities[3 * i], 0, units.speed);
    to.vy[k] = scaled(from.velocities[3 * i + 1], 0, units.speed);
    to.vz[k] = scaled(from.velocities[3 * i + 2], 0, units.speed);
  }
  return to;
}

// Computes the quantity at the targets whose indices are in `bodies`, in the kernel's type, and
// writes it to `out`, which has width(quantity) numbers for every target of the call. Returns false
// if stopped.
template <class To, class From>
bool compute(const Call<From>& call, const Units& units, const Points<To>& sources,
             const Points<To>& targets, const std::vector<std::size_t>& bodies, Stop& stop,
             std::vector<double>& out) {
  const auto components = static_cast<std::size_t>(width(call.quantity));
  const Task<To> task{call.quantity, sources, targets,
                      softening_squared_of<To>(call.softening / units.length), stop};
  std::vector<double> result(components * bodies.size());
  if constexpr (std::is_same_v<To, float>) {
    if (call.options->method == NBODY_TREE) {
      sum_by_tree(task, *call.options, result.data());
    } else {
      sum_directly(task, result.data());
    }
  } else {
    sum_directly(task, result.data());
  }
  for (std::size_t k = 0; k < bodies.size(); ++k)
    std::copy_n(&result[components * k], components, &out[components * bodies[k]]);
  return !stop.is_stopped();
}

// Massless sources exert no force, so they are targets only.
template <class To, class From>
int compute(const Call<From>& call, const Units& units, std::vector<double>& out) {
  const bool moving = call.quantity == Quantity::jerk;
  std::vector<std::size_t> massive, others;
  for (std::size_t i = 0; i < call.sources.count; ++i)
    (call.sources.masses[i] > 0 ? massive : others).push_back(i);
  if (call.targets) {
    others.resize(call.targets->count);
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = i;
  }
  if (massive.empty()) return NBODY_OK;
  Stop stop(*call.options);
  const Points<To> sources = gather<To>(call.sources, massive, units, moving);
  if (!call.targets && !compute(call, units, sources, sources, massive, stop, out))
    return NBODY_INTERRUPTED;
  if (others.empty()) return NBODY_OK;
  Arrays<From> arrays = call.targets.value_or(call.sources);
  arrays.masses = nullptr;
  const Points<To> targets = gather<To>(arrays, others, units, moving);
  const bool whole = compute(call, units, sources, targets, others, stop, out);
  return whole ? NBODY_OK : NBODY_INTERRUPTED;
}

// Writes `count` components of every target to `to`, beginning with the component `first`.
template <class Real>
void scatter(const std::vector<double>& out, int all, int first, int count, const Factors& unit,
             Real* to) {
  if (to == nullptr) return;
  for (std::size_t i = 0; i < out.size() / static_cast<std::size_t>(all); ++i)
    for (int c = 0; c < count; ++c)
      *to++ = static_cast<Real>(
          out[i * static_cast<std::size_t>(all) + static_cast<std::size_t>(first + c)] *
          unit.first * unit.second);
}

}  // namespace

template <class Real>
int run(Call<Real> call) try {
  nbody_options defaults;
  nbody_default_options(&defaults, sizeof defaults);
  if (call.options == nullptr) call.options = &defaults;
  if (const int wrong = check(call)) return wrong;
  if (call.options->device == NBODY_CUDA) return run_on_cuda(call);
  if (const int wrong = check_values(call)) return wrong;
  const Threads threads(call.options->threads);
  const std::size_t targets = call.at().count;
  const int all = width(call.quantity);
  std::vector<double> out(static_cast<std::size_t>(all) * targets);
  const Units units = choose_units(call);
  const int result = call.options->method == NBODY_TREE ? compute<float>(call, units, out)
                                                        : compute<Real>(call, units, out);
  if (result != NBODY_OK) return result;
  const ResultUnits unit(units.length, units.mass, units.speed);
  if (call.quantity == Quantity::potential) {
    scatter(out, all, 0, 1, unit.potential, call.potentials);
    return NBODY_OK;
  }
  scatter(out, all, 0, 3, unit.force, call.accelerations);
  scatter(out, all, 3, 3, unit.jerk, call.jerks);
  return NBODY_OK;
} catch (const std::bad_alloc&) {
  return NBODY_NO_MEMORY;
} catch (const std::length_error&) {
  return NBODY_NO_MEMORY;
}

template int run(Call<float>);
template int run(Call<double>);

namespace {

template <class Real>
std::optional<Arrays<Real>> targets_of(std::size_t count, const Real* positions,
                                       const Real* velocities) {
  if (positions == nullptr) return {};
  return Arrays<Real>{count, positions, velocities, nullptr};
}

template <class Real>
int accelerations(std::size_t sources, const Real* positions, const Real* masses,
                  std::size_t targets, const Real* target_positions, double softening,
                  const nbody_options* options, Real* accelerations) {
  return run<Real>({Quantity::accelerations,
                    {sources, positions, nullptr, masses},
                    targets_of<Real>(targets, target_positions, nullptr),
                    softening,
                    options,
                    accelerations,
                    nullptr,
                    nullptr});
}

template <class Real>
int potential(std::size_t sources, const Real* positions, const Real* masses, std::size_t targets,
              const Real* target_positions, double softening, const nbody_options* options,
              Real* potentials) {
  return run<Real>({Quantity::potential,
                    {sources, positions, nullptr, masses},
                    targets_of<Real>(targets, target_positions, nullptr),
                    softening,
                    options,
                    nullptr,
                    potentials,
                    nullptr});
}

template <class Real>
int jerk(std::size_t sources, const Real* positions, const Real* velocities, const Real* masses,
         std::size_t targets, const Real* target_positions, const Real* target_velocities,
         double softening, const nbody_options* options, Real* accelerations, Real* jerks) {
  return run<Real>({Quantity::jerk,
                    {sources, positions, velocities, masses},
                    targets_of<Real>(targets, target_positions, target_velocities),
                    softening,
                    options,
                    accelerations,
                    nullptr,
                    jerks});
}

}  // namespace
}  // namespace nbody::library

using namespace nbody::library;

int nbody_version(void) { return NBODY_VERSION; }

const char* nbody_error_text(int result) {
  switch (result) {
    case NBODY_OK:
      return "no error";
    case NBODY_NO_ARRAY:
      return "a required array is missing (NULL)";
    case NBODY_BAD_COUNT:
      return "too many sources or targets: at most 1000000000 are allowed";
    case NBODY_BAD_POSITION:
      return "a position is NaN, infinite, or above 1e150";
    case NBODY_BAD_VELOCITY:
      return "a velocity is NaN, infinite, or above 1e150";
    case NBODY_BAD_MASS:
      return "a mass is negative, NaN, infinite, or above 1e150";
    case NBODY_BAD_SOFTENING:
      return "the softening is negative, NaN, infinite, or above 1e150";
    case NBODY_BAD_OPTION:
      return "an option is out of range: see nbody_options in nbody.h, and set the defaults first";
    case NBODY_NO_DEVICE:
      return "there is no CUDA device (a forked process cannot use its parent's), or this build of "
             "libnbody lacks CUDA; use the CPU";
    case NBODY_NO_TREE_JERK:
      return "the tree does not compute a jerk; use the direct sum";
    case NBODY_NO_MEMORY:
      return "not enough memory";
    case NBODY_INTERRUPTED:
      return "interrupted by the caller";
    case NBODY_TWO_DEVICES:
      return "arrays are on different CUDA devices";
    case NBODY_CUDA_FAILED:
      return "a CUDA call failed; an earlier kernel of the program may have caused it";
  }
  return "unknown result";
}

void nbody_default_options(nbody_options* options, size_t size) {
  if (options == nullptr || size != sizeof(nbody_options)) return;
  *options = {.size = sizeof(nbody_options),
              .device = NBODY_CPU,
              .method = NBODY_DIRECT,
              .threads = 0,
              .theta = 1,
              .multipole = 2,
              .force_tolerance = 0.005,
              .interrupted = nullptr,
              .argument = nullptr,
              .stream = nullptr,
              .unchecked = 0};
}

void nbody_release_memory(void) { release_cuda_memory(); }

int nbody_accelerations_f32(size_t sources, const float* positions, const float* masses,
                            size_t targets, const float* target_positions, double softening,
                            const nbody_options* options, float* out) {
  return accelerations(sources, positions, masses, targets, target_positions, softening, options,
                       out);
}
int nbody_accelerations_f64(size_t sources, const double* positions, const double* masses,
                            size_t targets, const double* target_positions, double softening,
                            const nbody_options* options, double* out) {
  return accelerations(sources, positions, masses, targets, target_positions, softening, options,
                       out);
}
int nbody_potential_f32(size_t sources, const float* positions, const float* masses, size_t targets,
                        const float* target_positions, double softening,
                        const nbody_options* options, float* out) {
  return potential(sources, positions, masses, targets, target_positions, softening, options, out);
}
int nbody_potential_f64(size_t sources, const double* positions, const double* masses,
                        size_t targets, const double* target_positions, double softening,
                        const nbody_options* options, double* out) {
  return potential(sources, positions, masses, targets, target_positions, softening, options, out);
}
int nbody_jerk_f32(size_t sources, const float* positions, const float* velocities,
                   const float* masses, size_t targets, const float* target_positions,
                   const float* target_velocities, double softening, const nbody_options* options,
                   float* out_accelerations, float* jerks) {
  return jerk(sources, positions, velocities, masses, targets, target_positions, target_velocities,
              softening, options, out_accelerations, jerks);
}
int nbody_jerk_f64(size_t sources, const double* positions, const double* velocities,
                   const double* masses, size_t targets, const double* target_positions,
                   const double* target_velocities, double softening, const nbody_options* options,
                   double* out_accelerations, double* jerks) {
  return jerk(sources, positions, velocities, masses, targets, target_positions, target_velocities,
              softening, options, out_accelerations, jerks);
}
