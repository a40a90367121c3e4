// Gravity as an operation of XLA, the compiler of JAX. nbody_steps/in_jax.py checks arrays and
// options. XLA calls a handler from its own threads, with arrays in the memory of its device.
// Source of the interface: jaxlib's headers, xla/ffi/api.
#include "extension.h"

#ifdef NBODY_WITH_JAX
#include <xla/ffi/api/ffi.h>

namespace nb = nanobind;
namespace ffi = xla::ffi;

namespace {

using nbody::library::Quantity;

// Where a handler works. Without a device, the stream is null.
struct Place {
  int device;  // NBODY_CPU or NBODY_CUDA
  int number;  // of the CUDA device, or -1
  void* stream;
};

template <class T>
T attribute(const ffi::Dictionary& attributes, std::string_view name) {
  return attributes.get<T>(name).value();
}

nbody_options options_of(const ffi::Dictionary& attributes, const Place& place) {
  nbody_options options;
  nbody_default_options(&options, sizeof options);
  options.device = place.device;
  options.stream = place.stream;
  options.method = attribute<int32_t>(attributes, "method");
  options.threads = attribute<int32_t>(attributes, "threads");
  options.theta = attribute<double>(attributes, "theta");
  options.multipole = attribute<int32_t>(attributes, "multipole");
  options.force_tolerance = attribute<double>(attributes, "force_tolerance");
  options.unchecked = attribute<bool>(attributes, "unchecked");
  return options;
}

// The arguments are the positions, velocities (for a jerk) and masses of the sources, then the
// positions and velocities (for a jerk) of separate targets. A jerk has two results, accelerations
// and jerks.
template <class Real>
ffi::Error compute(const Place& place, ffi::RemainingArgs in, ffi::RemainingRets out,
                   const ffi::Dictionary& attributes) {
  const auto data = [&](std::size_t k) {
    return static_cast<const Real*>(in.get<ffi::AnyBuffer>(k)->untyped_data());
  };
  const auto rows = [&](std::size_t k) {
    return static_cast<std::size_t>(in.get<ffi::AnyBuffer>(k)->dimensions()[0]);
  };
  const auto result = [&](std::size_t k) {
    return static_cast<Real*>((*out.get<ffi::AnyBuffer>(k))->untyped_data());
  };
  const auto quantity = static_cast<Quantity>(attribute<int32_t>(attributes, "quantity"));
  const bool is_jerk = quantity == Quantity::jerk;
  const std::size_t masses = is_jerk ? 2 : 1, targets = masses + 1;
  const nbody_options options = options_of(attributes, place);
  nbody::library::Call<Real> call{
      .quantity = quantity,
      .sources = {rows(0), data(0), is_jerk ? data(1) : nullptr, data(masses)},
      .targets = {},
      .softening = attribute<double>(attributes, "softening"),
      .options = &options,
      .arrays_on = place.number};
  if (in.size() > targets)
    call.targets = {rows(targets), data(targets), is_jerk ? data(targets + 1) : nullptr, nullptr};
  (quantity == Quantity::potential ? call.potentials : call.accelerations) = result(0);
  if (is_jerk) call.jerks = result(1);
  const int code = nbody::library::run(call);
  if (code == NBODY_OK) return ffi::Error::Success();
  return ffi::Error::InvalidArgument(nbody_error_text(code));
}

ffi::Error gravity(const Place& place, ffi::RemainingArgs in, ffi::RemainingRets out,
                   const ffi::Dictionary& attributes) {
  const bool is_single = in.get<ffi::AnyBuffer>(0)->element_type() == ffi::F32;
  return (is_single ? compute<float> : compute<double>)(place, in, out, attributes);
}

ffi::Error gravity_on_cpu(ffi::RemainingArgs in, ffi::RemainingRets out,
                          ffi::Dictionary attributes) {
  return gravity({NBODY_CPU, -1, nullptr}, in, out, attributes);
}
ffi::Error gravity_on_cuda(void* stream, int32_t number, ffi::RemainingArgs in,
                           ffi::RemainingRets out, ffi::Dictionary attributes) {
  return gravity({NBODY_CUDA, number, stream}, in, out, attributes);
}

XLA_FFI_DEFINE_HANDLER(on_cpu, gravity_on_cpu,
                       ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attrs());
XLA_FFI_DEFINE_HANDLER(on_cuda, gravity_on_cuda,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<void*>>()
                           .Ctx<ffi::DeviceOrdinal>()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attrs());

}  // namespace

void bind_jax(nb::module_& module) {
  nb::dict handlers;
  handlers["cpu"] = nb::capsule(reinterpret_cast<void*>(on_cpu));
#ifdef NBODY_WITH_CUDA
  handlers["CUDA"] = nb::capsule(reinterpret_cast<void*>(on_cuda));
#endif
  module.attr("jax_handlers") = handlers;
}

#else

void bind_jax(nanobind::module_& module) { module.attr("jax_handlers") = nanobind::dict(); }

#endif
