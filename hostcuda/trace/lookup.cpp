// Finds the array that contains the address of an access.
#include <cstring>

#include "address_space.h"
#include "execution/block.h"
#include "runtime/memory.h"
#include "runtime/symbol.h"
#include "tracer.h"

namespace hostcuda::trace {

Array* Tracer::find_shared(const char* address) const {
  for (Array* array : block_->shared)
    if (array->contains(address)) return array;
  return nullptr;
}

bool Tracer::skips_atomic(const void* address) {
  if (!skipping_ || kernel_observer != this || !running_block || busy_) return false;
  const Busy busy;
  return find_shared(static_cast<const char*>(address)) && (*skipping_)() % 2 == 0;
}

// If no array contains the address, returns null and, if the access is an error, reports it.
Array* Tracer::find_array(const char*& address, Kind kind, unsigned bytes, const void* code) {
  Array* array = find_shared(address);
  if (!array) array = arrays_.find(address);
  if (!array && in_device_variables(address))
    array = find_device_variable({address, bytes, kind, code});
  if (!array && running_block->launch().cluster_size() > 1)
    array = find_shared_of_other_block(address);
  if (!array) look_at_what_is_no_array({address, bytes, kind, code});
  return array;
}

// A __device__ variable always has an initial value, by default zero, so it counts as written. A
// constant without an initialiser is zero too, but a program that reads this zero has probably
// forgotten to set the constant.
Array* Tracer::find_device_variable(const Accessed& accessed) {
  const DeviceVariableRange variable = device_variable_at(accessed.address);
  if (!variable.name) return nullptr;
  const int device = running_block->launch().device;
  if (was_set_elsewhere_only(accessed.address, device)) checks_.constant_of_other_device(accessed);
  Arrays& known = device_variables_[device];
  if (Array* array = known.beginning_at(variable.begin)) return array;
  Array& array = known.add(variable.begin, variable.size);
  array.name = variable.name;
  array.device = device;
  array.of_program = true;
  std::memset(array.writers.get(), variable.is_unset ? kNobody : kHost, array.size);
  return &array;
}

// While a block is not running, its shared variables are in a copy, at other addresses.
Array* Tracer::find_shared_of_other_block(const char*& address) const {
  for (const auto& [number, block] : blocks_)
    for (Array* array : block.shared) {
      const auto offset = reinterpret_cast<std::uint64_t>(address) - array->identity;
      if (offset >= array->size) continue;
      address = array->begin + offset;
      return array;
    }
  return nullptr;
}

void Tracer::look_at_what_is_no_array(const Accessed& accessed) {
  constexpr std::size_t kPadding = SharedMemory::kPadding;
  const auto is_close = [&](const Array& array) {
    return accessed.address + kPadding >= array.begin &&
           accessed.address < array.begin + array.full_size + kPadding;
  };
  for (const Array* array : block_->shared)
    if (is_close(*array)) return checks_.out_of_bounds(*array, accessed);
  for (const auto& [number, block] : blocks_)  // shared memory of other blocks
    for (const Array* array : block.shared) {
      const auto beyond =
          reinterpret_cast<std::uint64_t>(accessed.address) + kPadding - array->identity;
      if (&block != block_ && beyond < array->full_size + 2 * kPadding)
        return checks_.out_of_bounds(*array, {array->begin + (beyond - kPadding), accessed.bytes,
                                              accessed.kind, accessed.code});
    }
  if (arrays_.provided(accessed.address)) {
    if (const Array* array = arrays_.nearest(accessed.address))
      checks_.out_of_bounds(*array, accessed);
    return;
  }
  switch (AddressSpace::kind_of(accessed.address)) {
    case AddressSpace::Kind::of_other_thread:
      return checks_.memory_of_other_thread(accessed);
    case AddressSpace::Kind::of_host:
      if (accessed.kind != Kind::load) host_.written_by_kernel(accessed.bytes);
      if (running_block->launch().cluster_size() == 1) return checks_.host_memory(accessed);
      // The address may be in the shared memory of another block of the cluster, which has ended.
      for (const auto& [identity, array] : variables_)
        if (static_cast<std::size_t>(accessed.address - identity) < array.full_size)
          return checks_.block_has_ended(array, accessed);
      return;
    case AddressSpace::Kind::allowed:
      if (was_set_elsewhere_only(accessed.address, running_block->launch().device))
        checks_.constant_of_other_device(accessed);
      return;
    case AddressSpace::Kind::nothing:  // a fault follows, which is reported
      return;
  }
}

void Tracer::look_at_device(Array& array, const Accessed& accessed) {
  array.is_used = true;
  const int device = running_block->launch().device;
  if (array.space == Space::global && array.kind == MemoryKind::device && array.device != device &&
      !may_access(device, array.begin))
    checks_.wrong_device(array, accessed);
}

}  // namespace hostcuda::trace
