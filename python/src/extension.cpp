// The functions of libnbody for Python. nbody_steps/gravity.py checks arrays and options, and
// allocates the results.
#include "extension.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "call.h"
#include "nbody.h"

namespace nb = nanobind;

namespace {

// C-contiguous arrays, in host or device memory.
template <class Real>
using In = nb::ndarray<const Real, nb::c_contig>;
template <class Real>
using Out = nb::ndarray<Real, nb::c_contig>;

// Returns nonzero if Ctrl-C must end a call. Runs Python's signal handlers, which it runs only in
// the main thread. Other threads must not ask: once the interpreter ends, asking ends a thread.
int has_signal(void*) {
  if (gettid() != getpid()) return 0;
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

template <class Real>
const Real* data(const std::optional<In<Real>>& array) {
  static const Real nothing = 0;  // an empty array of targets is not a missing array
  if (!array) return nullptr;
  return array->size() == 0 ? &nothing : array->data();
}
template <class Real>
std::size_t count(const std::optional<In<Real>>& targets) {
  return targets ? targets->size() / 3 : 0;
}

template <class Real, class Function>
void bind_sum(nb::module_& module, const char* name, Function function) {
  module.def(
      name,
      [function](const In<Real>& positions, const In<Real>& masses,
                 const std::optional<In<Real>>& targets, double softening, const Settings& settings,
                 const Out<Real>& out) {
        call(settings, 0, [&](const nbody_options* options) {
          return function(masses.size(), positions.data(), masses.data(), count<Real>(targets),
                          data<Real>(targets), softening, options, out.data());
        });
      },
      nb::arg("positions"), nb::arg("masses"), nb::arg("targets").none(), nb::arg("softening"),
      nb::arg("settings"), nb::arg("out"));
}

template <class Real>
void bind_sum_at(nb::module_& module, const char* name, nbody::library::Quantity quantity) {
  module.def(
      name,
      [quantity](int number, std::size_t sources, std::uintptr_t positions, std::uintptr_t masses,
                 std::size_t count, std::uintptr_t targets, double softening,
                 const Settings& settings, std::uintptr_t out, std::uintptr_t stream) {
        sum_on<Real>(number, quantity, {sources, positions, 0, masses}, {count, targets, 0, 0},
                     softening, settings, out, stream);
      },
      nb::arg("number"), nb::arg("sources"), nb::arg("positions"), nb::arg("masses"),
      nb::arg("count"), nb::arg("targets"), nb::arg("softening"), nb::arg("settings"),
      nb::arg("out"), nb::arg("stream"));
}

template <class Real, class Function>
void bind_jerk_at(nb::module_& module, const char* name, Function function) {
  module.def(
      name,
      [function](std::size_t sources, std::uintptr_t positions, std::uintptr_t velocities,
                 std::uintptr_t masses, std::size_t count, std::uintptr_t targets,
                 std::uintptr_t target_velocities, double softening, const Settings& settings,
                 std::uintptr_t accelerations, std::uintptr_t jerks, std::uintptr_t stream) {
        call(settings, stream, [&](const nbody_options* options) {
          return function(sources, at<Real>(positions), at<Real>(velocities), at<Real>(masses),
                          count, at<Real>(targets), at<Real>(target_velocities), softening, options,
                          at<Real>(accelerations), at<Real>(jerks));
        });
      },
      nb::arg("sources"), nb::arg("positions"), nb::arg("velocities"), nb::arg("masses"),
      nb::arg("count"), nb::arg("targets"), nb::arg("target_velocities"), nb::arg("softening"),
      nb::arg("settings"), nb::arg("accelerations"), nb::arg("jerks"), nb::arg("stream"));
}

template <class Real, class Function>
void bind_jerk(nb::module_& module, Function function) {
  module.def(
      "jerk",
      [function](const In<Real>& positions, const In<Real>& velocities, const In<Real>& masses,
                 const std::optional<In<Real>>& targets,
                 const std::optional<In<Real>>& target_velocities, double softening,
                 const Settings& settings, const Out<Real>& accelerations, const Out<Real>& jerks) {
        call(settings, 0, [&](const nbody_options* options) {
          return function(masses.size(), positions.data(), velocities.data(), masses.data(),
                          count<Real>(targets), data<Real>(targets), data<Real>(target_velocities),
                          softening, options, accelerations.data(), jerks.data());
        });
      },
      nb::arg("positions"), nb::arg("velocities"), nb::arg("masses"), nb::arg("targets").none(),
      nb::arg("target_velocities").none(), nb::arg("softening"), nb::arg("settings"),
      nb::arg("accelerations"), nb::arg("jerks"));
}

// Returns a new array in the memory of a device. Other libraries can read the array through DLPack.
template <class Real>
nb::object empty_on(int device, const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t size : shape) count *= size;
  void* const memory =
      nbody::library::take_cuda_result(std::max<std::size_t>(count, 1) * sizeof(Real));
  if (memory == nullptr) throw std::bad_alloc();
  const nb::capsule owner(memory,
                          [](void* mine) noexcept { nbody::library::return_cuda_result(mine); });
  return nb::ndarray<nb::array_api, Real, nb::device::cuda>(
             static_cast<Real*>(memory), shape.size(), shape.data(), owner, nullptr,
             nb::dtype<Real>(), nb::device::cuda::value, device)
      .cast();
}

// Returns the address of a contiguous array, which may be from any library with DLPack.
std::uintptr_t address(const nb::ndarray<nb::ro, nb::c_contig>& array) {
  return reinterpret_cast<std::uintptr_t>(array.data());
}

// Waits for all work in a stream, without the interpreter's lock.
void wait_for(std::uintptr_t stream) {
  const nb::gil_scoped_release unlocked;
  if (!nbody::library::wait_for_cuda(at<void>(stream))) fail(NBODY_CUDA_FAILED);
}

}  // namespace

nbody_options options_of(const Settings& settings, std::uintptr_t stream) {
  nbody_options options;
  nbody_default_options(&options, sizeof options);
  options.device = settings.device;
  options.method = settings.method;
  options.threads = settings.threads;
  options.theta = settings.theta;
  options.multipole = settings.multipole;
  options.force_tolerance = settings.force_tolerance;
  options.interrupted = has_signal;
  options.stream = at<void>(stream);
  options.unchecked = settings.unchecked;
  return options;
}

void fail(int result) {
  if (result == NBODY_INTERRUPTED) throw nb::python_error();
  if (result == NBODY_NO_MEMORY) throw std::bad_alloc();
  if (result == NBODY_CUDA_FAILED) throw std::runtime_error(nbody_error_text(result));
  throw nb::value_error(nbody_error_text(result));
}

NB_MODULE(_extension, module) {
  using nbody::library::Quantity;
  module.doc() = "libnbody for Python; use nbody_steps, which checks arguments";
  nb::class_<Settings>(module, "Settings")
      .def(nb::init<int, int, int, double, int, double, bool>(), nb::arg("device"),
           nb::arg("method"), nb::arg("threads"), nb::arg("theta"), nb::arg("multipole"),
           nb::arg("force_tolerance"), nb::arg("unchecked"))
      .def_ro("method", &Settings::method)
      .def_ro("threads", &Settings::threads)
      .def_ro("theta", &Settings::theta)
      .def_ro("multipole", &Settings::multipole)
      .def_ro("force_tolerance", &Settings::force_tolerance)
      .def_ro("unchecked", &Settings::unchecked);
#ifdef NBODY_WITH_CUDA
  module.attr("has_cuda") = true;
#else
  module.attr("has_cuda") = false;
#endif
  module.def("empty_f32_on", &empty_on<float>, nb::arg("device"), nb::arg("shape"));
  module.def("empty_f64_on", &empty_on<double>, nb::arg("device"), nb::arg("shape"));
  module.def("release_memory", &nbody_release_memory);
  module.def("address", &address, nb::arg("array").noconvert());
  module.def("wait", &wait_for, nb::arg("stream"));
  bind_sum<float>(module, "accelerations", nbody_accelerations_f32);
  bind_sum<double>(module, "accelerations", nbody_accelerations_f64);
  bind_sum<float>(module, "potential", nbody_potential_f32);
  bind_sum<double>(module, "potential", nbody_potential_f64);
  bind_sum_at<float>(module, "accelerations_f32", Quantity::accelerations);
  bind_sum_at<double>(module, "accelerations_f64", Quantity::accelerations);
  bind_sum_at<float>(module, "potential_f32", Quantity::potential);
  bind_sum_at<double>(module, "potential_f64", Quantity::potential);
  bind_jerk<float>(module, nbody_jerk_f32);
  bind_jerk<double>(module, nbody_jerk_f64);
  bind_jerk_at<float>(module, "jerk_f32", nbody_jerk_f32);
  bind_jerk_at<double>(module, "jerk_f64", nbody_jerk_f64);
  bind_files(module);
  bind_short_way(module);
  bind_jax(module);
}
