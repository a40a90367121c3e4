// The functions of libnbody for Python. nbody_steps/gravity.py checks arrays and options, and
// allocates the results.
#include "extension.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "nbody.h"

namespace nb = nanobind;

namespace {

// C-contiguous arrays in host memory.
template <class Real>
using In = nb::ndarray<const Real, nb::c_contig, nb::device::cpu>;
template <class Real>
using Out = nb::ndarray<Real, nb::c_contig, nb::device::cpu>;

struct Settings {
  int device, method, threads;
  double theta;
  int multipole;
  double force_tolerance;
};

// Ctrl-C ends a call: Python's handler runs, in the thread that called.
int has_signal(void*) {
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

// Calls a function of nbody.h without the interpreter's lock.
template <class Function>
void call(const Settings& settings, const Function& function) {
  nbody_options options;
  nbody_default_options(&options, sizeof options);
  options.device = settings.device;
  options.method = settings.method;
  options.threads = settings.threads;
  options.theta = settings.theta;
  options.multipole = settings.multipole;
  options.force_tolerance = settings.force_tolerance;
  options.interrupted = has_signal;
  int result;
  {
    const nb::gil_scoped_release unlocked;
    result = function(&options);
  }
  if (result == NBODY_INTERRUPTED) throw nb::python_error();
  if (result == NBODY_NO_MEMORY) throw std::bad_alloc();
  if (result != NBODY_OK) throw nb::value_error(nbody_error_text(result));
}

template <class Real>
const Real* data(const std::optional<In<Real>>& array) {
  static const Real nothing = 0;  // an empty array of targets must not count as none
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
        call(settings, [&](const nbody_options* options) {
          return function(masses.size(), positions.data(), masses.data(), count<Real>(targets),
                          data<Real>(targets), softening, options, out.data());
        });
      },
      nb::arg("positions"), nb::arg("masses"), nb::arg("targets").none(), nb::arg("softening"),
      nb::arg("settings"), nb::arg("out"));
}

template <class Real, class Function>
void bind_jerk(nb::module_& module, Function function) {
  module.def(
      "jerk",
      [function](const In<Real>& positions, const In<Real>& velocities, const In<Real>& masses,
                 const std::optional<In<Real>>& targets,
                 const std::optional<In<Real>>& target_velocities, double softening,
                 const Settings& settings, const Out<Real>& accelerations, const Out<Real>& jerks) {
        call(settings, [&](const nbody_options* options) {
          return function(masses.size(), positions.data(), velocities.data(), masses.data(),
                          count<Real>(targets), data<Real>(targets), data<Real>(target_velocities),
                          softening, options, accelerations.data(), jerks.data());
        });
      },
      nb::arg("positions"), nb::arg("velocities"), nb::arg("masses"), nb::arg("targets").none(),
      nb::arg("target_velocities").none(), nb::arg("softening"), nb::arg("settings"),
      nb::arg("accelerations"), nb::arg("jerks"));
}

}  // namespace

NB_MODULE(_extension, module) {
  module.doc() = "libnbody for Python; use nbody_steps, which checks arguments";
  nb::class_<Settings>(module, "Settings")
      .def(nb::init<int, int, int, double, int, double>(), nb::arg("device"), nb::arg("method"),
           nb::arg("threads"), nb::arg("theta"), nb::arg("multipole"), nb::arg("force_tolerance"));
  bind_sum<float>(module, "accelerations", nbody_accelerations_f32);
  bind_sum<double>(module, "accelerations", nbody_accelerations_f64);
  bind_sum<float>(module, "potential", nbody_potential_f32);
  bind_sum<double>(module, "potential", nbody_potential_f64);
  bind_jerk<float>(module, nbody_jerk_f32);
  bind_jerk<double>(module, nbody_jerk_f64);
  bind_files(module);
}
