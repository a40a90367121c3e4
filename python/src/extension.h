// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "call.h"

// The options of a call, which nbody_steps/gravity.py has checked.
struct Settings {
  int device, method, threads;
  double theta;
  int multipole;
  double force_tolerance;
  bool unchecked;
};

nbody_options options_of(const Settings& settings, std::uintptr_t stream);
[[noreturn]] void fail(int result);

// Calls a function of the library without the interpreter's lock.
template <class Function>
void call(const Settings& settings, std::uintptr_t stream, const Function& function) {
  const nbody_options options = options_of(settings, stream);
  int result;
  {
    const nanobind::gil_scoped_release unlocked;
    result = function(&options);
  }
  if (result != NBODY_OK) fail(result);
}

// If arrays are in device memory, Python passes their addresses (nbody_steps/devices.py).
template <class Real>
Real* at(std::uintptr_t address) {
  return reinterpret_cast<Real*>(address);
}

// Addresses of arrays of bodies in the memory of a device; 0 stands for a missing array.
struct Addresses {
  std::size_t count;
  std::uintptr_t positions, velocities, masses;
  template <class Real>
  nbody::library::Arrays<Real> arrays() const {
    return {count, at<Real>(positions), at<Real>(velocities), at<Real>(masses)};
  }
};

// Computes with arrays that are all in the memory of device `number`. `out` has the accelerations
// or potentials.
template <class Real>
void sum_on(int number, nbody::library::Quantity quantity, const Addresses& sources,
            const Addresses& targets, double softening, const Settings& settings,
            std::uintptr_t out, std::uintptr_t stream) {
  const bool forces = quantity == nbody::library::Quantity::accelerations;
  call(settings, stream, [&](const nbody_options* options) {
    nbody::library::Call<Real> call{quantity, sources.arrays<Real>(), {}, softening, options};
    if (targets.positions != 0) call.targets = targets.arrays<Real>();
    (forces ? call.accelerations : call.potentials) = at<Real>(out);
    call.arrays_on = number;
    return nbody::library::run(call);
  });
}

// Add to the module: bind_files adds the functions read, write, scenario and scenarios;
// bind_short_way adds sum_there; bind_jax adds jax_handlers, which is empty in a build without JAX.
void bind_files(nanobind::module_& module);
void bind_short_way(nanobind::module_& module);
void bind_jax(nanobind::module_& module);
