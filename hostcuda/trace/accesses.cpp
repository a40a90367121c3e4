// What the tracer does with each access.
#include <algorithm>
#include <cstring>
#include <utility>

#include "address_space.h"
#include "checks/virtual_table.h"
#include "execution/block.h"
#include "execution/watchdog.h"
#include "runtime/device.h"
#include "runtime/symbol.h"
#include "tracer.h"

namespace hostcuda::trace {
namespace {

bool has_come_to_rest(const BlockState& block, unsigned warp) {
  const unsigned end = std::min(block.count(), (warp + 1) * kLanes);
  for (unsigned i = warp * kLanes; i < end; ++i) {
    const Status status = block.thread(i).status;
    if (status != Status::at_barrier && status != Status::finished) return false;
  }
  return true;
}

}  // namespace

Array* Tracer::find_shared(const char* address) const {
  for (Array* array : block_->shared)
    if (array->contains(address)) return array;
  return nullptr;
}

// Null: what is at the address is no array, and was looked at.
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

// It has a value from the beginning, or zeros.
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
  std::memset(array.writers.get(), kHost, array.size);
  return &array;
}

// Its address is that of the copy in which it is while its own block does not run.
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
  for (const auto& [number, block] : blocks_)  // of another block of the cluster: by its identity
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
      if (running_block->launch().cluster_size() == 1) return checks_.host_memory(accessed);
      // Shared memory of a block of the cluster that has ended, or has not begun.
      for (const auto& [identity, array] : variables_)
        if (static_cast<std::size_t>(accessed.address - identity) < array.full_size)
          return checks_.block_has_ended(array, accessed);
      return;
    case AddressSpace::Kind::allowed:
      if (was_set_elsewhere_only(accessed.address, running_block->launch().device))
        checks_.constant_of_other_device(accessed);
      return;
    case AddressSpace::Kind::nothing:  // a fault follows, which says it all
      return;
  }
}

// Keeps the logs short: the requests of a warp are complete once all its threads wait or are done.
void Tracer::leave_warp(unsigned warp) {
  if (has_come_to_rest(*running_block, warp)) settle_warp(warp);
}

void Tracer::renew_epoch() {
  RunningBlock::OfWarp& of_warp = block_->epochs[warp_];
  now_ = block_->now;
  now_.warp_calls = block_->warp_calls[warp_];
  now_.fences = fences_.any() ? fences_.count(now_.block, static_cast<std::uint16_t>(thread_)) : 0;
  if (!of_warp.epoch || of_warp.fences != now_.fences) of_warp = {epochs_.add(now_), now_.fences};
  epoch_ = of_warp.epoch;
  races_.other_epoch();
}

void Tracer::change_thread(unsigned thread) {
  thread_ = thread;
  const unsigned warp = thread / kLanes;
  if (warp != warp_) leave_warp(std::exchange(warp_, warp));
  renew_epoch();
}

void Tracer::fence() {
  if (kernel_observer != this || !running_block || busy_) return;
  const Busy busy(*this);
  change_thread(running_block->current_number());
  fences_.fence(now_, static_cast<std::uint16_t>(thread_));
  renew_epoch();
}

// Atomics and volatile accesses are what threads tell each other with that they have come so far.
void Tracer::order(std::uint64_t address, How how) {
  address -= address % kWordBytes;
  const auto thread = static_cast<std::uint16_t>(thread_);
  if (how.kind != Kind::store) fences_.acquired_at(address, now_.block, thread);
  if (how.kind != Kind::load) fences_.released_at(address, now_.block, thread);
}

// The counter or the lock is often a __device__ variable: a variable of the program, which is no
// array.
void Tracer::order_by_variable(const char* address, How how) {
  if (how.kind != Kind::atomic && !how.is_volatile) return;
  const unsigned thread = running_block->current_number();
  if (thread != thread_) change_thread(thread);
  if (how.releases) {
    fences_.fence(now_, static_cast<std::uint16_t>(thread_));
    renew_epoch();
  }
  if (fences_.any()) order(reinterpret_cast<std::uint64_t>(address), how);
}

Array* Tracer::array_of_atomic(const char*& address, Kind kind) {
  change_thread(running_block->current_number());
  return AddressSpace::of_running_thread(address) ? nullptr : find_array(address, kind, 1, nullptr);
}

void Tracer::acquire(const void* pointer) {
  if (kernel_observer != this || !running_block || busy_ || !fences_.any()) return;
  const Busy busy(*this);
  const auto* address = static_cast<const char*>(pointer);
  if (const Array* array = array_of_atomic(address, Kind::load))
    order(array->identity + array->offset_of(address), {Kind::load});
  else if (AddressSpace::of_program(address))
    order_by_variable(address, {Kind::load, true});
}

void Tracer::release(const void* pointer, bool is_fence) {
  if (is_fence) fence();
  if (kernel_observer != this || !running_block || busy_) return;
  const Busy busy(*this);
  const auto* address = static_cast<const char*>(pointer);
  const Array* array = array_of_atomic(address, Kind::store);
  if (!array) {
    if (AddressSpace::of_program(address)) order_by_variable(address, {Kind::store, true});
    return;
  }
  const std::size_t offset = array->offset_of(address);
  std::memset(array->writers.get() + offset, kKernel,
              std::min<std::size_t>(kWordBytes, array->size - offset));
  order(array->identity + offset, {Kind::store});
}

void Tracer::look_at_device(Array& array, const Accessed& accessed) {
  array.is_used = true;
  const int device = running_block->launch().device;
  if (array.space == Space::global && array.kind == MemoryKind::device && array.device != device &&
      !peers_of(device).contains(array.device))
    checks_.wrong_device(array, accessed);
}

// An object whose constructor ran in host code has the host's table of virtual functions.
void Tracer::look_for_virtual_call(const Array& array, const Accessed& accessed) {
  const void* value;
  std::memcpy(&value, accessed.address, sizeof value);
  if (!AddressSpace::of_program(static_cast<const char*>(value)) ||
      array.writers[array.offset_of(accessed.address)] == kKernel)
    return;
  if (const std::string name = class_of_virtual_table(value); !name.empty())
    checks_.table_of_host(array, accessed, name);
}

void Tracer::look_at(Array& array, const Accessed& accessed, How how, std::uint32_t site) {
  const std::size_t offset = array.offset_of(accessed.address);
  // Of a struct some bytes may be padding.
  const bool is_scalar = accessed.bytes <= 8;
  if (how.reads && array.knows_writers() &&
      !(is_scalar ? array.all_written(offset, accessed.bytes)
                  : array.any_written(offset, accessed.bytes))) {
    if (array.space == Space::global) host_.report_unasked();  // its cause, perhaps
    checks_.unwritten(array, accessed, site);
  }
  if (how.kind == Kind::load && accessed.bytes == sizeof(void*) && array.space == Space::global &&
      !array.of_program)
    look_for_virtual_call(array, accessed);
  if (how.kind == Kind::load) return;
  std::memset(array.writers.get() + offset, kKernel, accessed.bytes);
  array.last_launch = operation_;
  array.element = accessed.bytes;
  if (fences_.any()) fences_.wrote(now_.block, static_cast<std::uint16_t>(thread_));
}

void Tracer::count(Array& array, std::size_t offset, unsigned bytes, How how, std::uint32_t site) {
  if (!array.of_program) logs_[warp_].add(thread_ % kLanes, site, array.identity + offset);
  if (logs_[warp_].is_full()) settle_warp(warp_);
  Access access;
  access.epoch = epoch_;
  access.thread = thread_;
  access.is_atomic = how.kind == Kind::atomic;
  access.is_volatile = how.is_volatile;
  access.site = site;
  for (unsigned done = 0; done < bytes;) {
    const unsigned first = (offset + done) % kWordBytes;
    const unsigned size = std::min(bytes - done, kWordBytes - first);
    access.bytes = ((1u << size) - 1) << first;
    if (const Unordered* found =
            races_.access(array, offset + done, access, now_, how.kind != Kind::load))
      checks_.unordered(array,
                        {array.begin + offset + done, size, how.kind,
                         reinterpret_cast<const void*>(sites_.all()[site].key.code)},
                        found->operation);
    if (races_.has_new())
      for (const Race* race : races_.take_new())
        checks_.race(*race, sites_.all()[race->earlier.access.site].key,
                     sites_.all()[race->later.access.site].key);
    done += size;
  }
}

// Nothing but this happens in the inner loops of most kernels. It calls no function, so that the
// compiler saves no registers for it.
[[gnu::always_inline]] inline bool Tracer::load_word_at_once(const Recent& recent,
                                                             const char* address) {
  Array& array = *recent.array;
  if (array.of_program) return false;
  const std::size_t offset = array.offset_of(address);
  if (offset % kWordBytes != 0 || offset + kWordBytes > array.size ||
      running_block->current_number() != thread_ || !array.all_written(offset, kWordBytes))
    return false;
  Access access;
  access.epoch = epoch_;
  access.thread = thread_;
  access.bytes = 15;
  access.site = recent.site;
  if (!races_.load_word(array, offset, access)) return false;
  return logs_[warp_].add_at_once(thread_ % kLanes, recent.site, array.identity + offset);
}

Tracer::Recent& Tracer::recent_of(const void* code, Kind kind) {
  const auto hash = reinterpret_cast<std::uintptr_t>(code);
  return recent_[(hash ^ hash >> 12 ^ static_cast<unsigned>(kind)) % recent_.size()];
}

void Tracer::load_word(const void* pointer, const void* code) {
  if (kernel_observer == this && !busy_ && !hang_is_to_be_reported && running_block) {
    const Recent& recent = recent_of(code, Kind::load);
    const auto* address = static_cast<const char*>(pointer);
    if (recent.code == code && recent.stamp == stamp_ && recent.kind == Kind::load &&
        recent.array->contains(address) && load_word_at_once(recent, address))
      return;
  }
  access(pointer, kWordBytes, kWordBytes, {Kind::load}, code);
}

void Tracer::access(const void* pointer, unsigned bytes, unsigned piece, How how,
                    const void* code) {
  // Templates that host code and kernels share are instrumented everywhere, even when called here.
  if (kernel_observer != this || busy_) return;
  const auto* address = static_cast<const char*>(pointer);
  if (__builtin_expect(hang_is_to_be_reported, 0)) {
    const Busy busy(*this);
    report_hang(CodePlace{code}.text().c_str());
  }
  if (!running_block) {
    const bool is_variable = in_device_variables(address);
    if (!is_variable && !arrays_.provided(address)) return;
    const Busy busy(*this);
    if (is_variable) return host_.access_variable({address, bytes, how.kind, code});
    return host_.access({address, bytes, how.kind, code});
  }
  const auto hash = reinterpret_cast<std::uintptr_t>(code);
  Recent& recent = recent_of(code, how.kind);
  const bool is_known = recent.code == code && recent.stamp == stamp_ && recent.kind == how.kind;
  const bool is_close =
      is_known && recent.array->contains(address) &&
      (recent.array != &program_ || (!in_device_variables(address) && !find_shared(address)));
  if (!is_close) {
    if (AddressSpace::of_running_thread(address)) return;
    const Busy busy(*this);
    Array* array = find_array(address, how.kind, bytes, code);
    if (!array) {
      if (!AddressSpace::of_program(address)) return;
      recent = {code, &program_, stamp_, 0, how.kind};
      return order_by_variable(address, how);
    }
    look_at_device(*array, {address, bytes, how.kind, code});
    if (!is_known || recent.array->space != array->space)
      recent.site =
          sites_.number_of({hash, kernel_, 0, static_cast<std::uint8_t>(std::min(bytes, piece)),
                            array->space, how.kind});
    recent.code = code;
    recent.stamp = stamp_;
    recent.kind = how.kind;
    recent.array = array;
  }
  Array& array = *recent.array;
  const Busy busy(*this);
  if (&array == &program_) return order_by_variable(address, how);
  const unsigned thread = running_block->current_number();
  if (thread != thread_) change_thread(thread);
  const Accessed accessed{address, bytes, how.kind, code};
  if (!array.contains(address, bytes)) return checks_.out_of_bounds(array, accessed);
  const unsigned alignment = std::min({bytes, piece, kMaxAccess});
  if (piece >= bytes && reinterpret_cast<std::uintptr_t>(address) % alignment != 0)
    checks_.misaligned(&array, accessed, alignment);
  look_at(array, accessed, how, recent.site);
  const std::size_t offset = array.offset_of(address);
  if (how.releases) {
    fences_.fence(now_, static_cast<std::uint16_t>(thread_));
    renew_epoch();
  }
  if (how.compares) races_.compare_and_swap(array, offset, thread_, now_);
  count(array, offset, std::min(bytes, piece), how, recent.site);
  for (unsigned done = piece, part = 1; done < bytes; done += piece, ++part) {
    const unsigned size = std::min(piece, bytes - done);
    count(array, offset + done, size, how,
          sites_.number_of({hash, kernel_, static_cast<std::uint8_t>(part),
                            static_cast<std::uint8_t>(size), array.space, how.kind}));
  }
  if (fences_.any() && (how.kind == Kind::atomic || how.is_volatile))
    order(array.identity + offset, how);
}

}  // namespace hostcuda::trace
