// Handles each access of a traced program.
#include <algorithm>
#include <cstring>
#include <utility>

#include "address_space.h"
#include "execution/block.h"
#include "execution/watchdog.h"
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

// Counts a warp's requests as soon as all its threads wait or have ended, because this keeps the
// logs short.
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
  trail_.enter(thread_, epoch_, logs_[warp_]);
}

void Tracer::change_thread(unsigned thread) {
  trail_.leave();
  thread_ = thread;
  const unsigned warp = thread / kLanes;
  if (warp != warp_) {
    trail_.end();
    leave_warp(std::exchange(warp_, warp));
  }
  renew_epoch();
}

void Tracer::fence(bool of_block) {
  if (kernel_observer != this || !running_block || busy_) return;
  const Busy busy;
  change_thread(running_block->current_number());
  make_fence(of_block);
}

void Tracer::make_fence(bool of_block) {
  fences_.fence(now_, static_cast<std::uint16_t>(thread_), of_block);
  renew_epoch();
}

// Records that an atomic or volatile access orders a thread's accesses with other threads'
// accesses.
void Tracer::order(std::uint64_t address, How how) {
  address -= address % kWordBytes;
  const auto thread = static_cast<std::uint16_t>(thread_);
  if (how.kind != Kind::store) fences_.acquired_at(address, now_.block, thread);
  if (how.kind != Kind::load) fences_.released_at(address, now_.block, thread);
}

// Does the same as order(), for a counter or lock in a variable that belongs to no array.
void Tracer::order_by_variable(const char* address, How how) {
  if (!how.is_atomic && !how.is_volatile) return;
  const unsigned thread = running_block->current_number();
  if (thread != thread_) change_thread(thread);
  if (how.releases) make_fence();
  if (fences_.any()) order(reinterpret_cast<std::uint64_t>(address), how);
}

// Handles an access to a variable of the program that is not a __device__ variable.
void Tracer::access_to_program(const char* address, unsigned bytes, How how) {
  if (how.kind == Kind::store) host_.written_by_kernel(bytes);
  order_by_variable(address, how);
}

// Reports the use of an object that host code constructed: such an object points to the host's
// table of virtual functions.
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
  // Larger accesses copy structs, in which some bytes may be padding.
  const bool is_scalar = accessed.bytes <= 8;
  if (how.reads && array.is_unwritten(offset, accessed.bytes, is_scalar)) {
    if (array.of_program) {
      if (!host_has_set(accessed.address, accessed.bytes))
        checks_.constant_never_set(array, accessed, bytes_set_by_host(array.begin));
      std::memset(array.writers.get() + offset, kHost, accessed.bytes);
    } else {
      if (array.space == Space::global) host_.report_unasked();  // a failed call may be the cause
      checks_.unwritten(array, accessed, site);
    }
  }
  if (how.reads && is_scalar && accessed.bytes >= kWordBytes && array.writers[offset] == kFill &&
      array.writers[offset + accessed.bytes - 1] == kFill)
    checks_.bytes_as_number(array, accessed);
  if (how.kind == Kind::load && accessed.bytes == sizeof(void*) && array.space == Space::global &&
      !array.of_program)
    look_for_virtual_call(array, accessed);
  if (how.kind == Kind::load) return;
  if (how.kind == Kind::store && array.space == Space::shared)
    block_->halvings.store(accessed.code, array, block_->now.barriers);
  std::memset(array.writers.get() + offset, kKernel, accessed.bytes);
  array.last_launch = operation_;
  array.element = accessed.bytes;
  if (fences_.any()) fences_.wrote(now_.block, static_cast<std::uint16_t>(thread_));
}

// Parameters and tables that host code sets may be read often. But if a kernel or a copy on the
// device has filled the variable, it is used like global memory.
void Tracer::count_variable_load(const Array& array, std::size_t offset) {
  ++kernels_[kernel_].variable_loads;
  if (array.writers[offset] != kKernel && !host_.has_copied_on_device_to(array.begin)) return;
  ++kernels_[kernel_].filled_variable_loads;
  ++block_->variable_loads[warp_][thread_ % kLanes];
}

void Tracer::count(Array& array, std::size_t offset, unsigned bytes, How how, std::uint32_t site) {
  const auto* code = reinterpret_cast<const void*>(sites_.all()[site].key.code);
  if (how.kind != Kind::load) races_.settle_stores();
  if (array.of_program) {
    if (how.kind == Kind::load) count_variable_load(array, offset);
  } else {
    trail_.leave();
    logs_[warp_].add(thread_ % kLanes, site, array.identity + offset);
    trail_.pass(code);
  }
  if (logs_[warp_].is_full()) {
    trail_.end();
    settle_warp(warp_);
  }
  Access access;
  access.epoch = epoch_;
  access.thread = thread_;
  access.is_atomic = how.is_atomic;
  access.is_volatile = how.is_volatile || how.of_block;
  access.site = site;
  for (unsigned done = 0; done < bytes;) {
    const unsigned first = (offset + done) % kWordBytes;
    const unsigned size = std::min(bytes - done, kWordBytes - first);
    access.bytes = ((1u << size) - 1) << first;
    if (how.kind != Kind::load) trail_.writes(array.cells[(offset + done) / kWordBytes]);
    if (const Unordered* found =
            races_.access(array, offset + done, access, now_, how.kind != Kind::load))
      checks_.unordered(array, {array.begin + offset + done, size, how.kind, code},
                        found->operation);
    if (races_.has_new()) report_races(races_.take_new());
    done += size;
  }
}

// The fast path for most inner loops, in threads that follow no trail (trail.h). The fast path
// calls no other function, so the compiler need not save registers.
template <unsigned kBytes>
[[gnu::always_inline]] inline bool Tracer::load_at_once(const Recent& recent, const char* address) {
  Array& array = *recent.array;
  if (array.of_program) return false;
  const std::size_t offset = array.offset_of(address);
  if (reinterpret_cast<std::uintptr_t>(address) % kBytes != 0 || offset % kWordBytes != 0 ||
      offset + kBytes > array.size || logs_[warp_].is_full())
    return false;
  for (unsigned at = 0; at < kBytes; at += kWordBytes)
    if (array.is_unwritten(offset + at, kWordBytes, true)) return false;
  if (kBytes == sizeof(void*) && array.space == Space::global) {
    const char* value;
    std::memcpy(&value, address, sizeof value);
    if (AddressSpace::of_program(value)) return false;  // may point to a table of virtual functions
  }
  Access access;
  access.epoch = epoch_;
  access.thread = thread_;
  access.bytes = 15;
  access.site = recent.site;
  Cell* const cells = &array.cells[offset / kWordBytes];
  for (unsigned i = 0; i < kBytes / kWordBytes; ++i)
    if (!races_.is_settled(cells[i]) || cells[i].reads[0].epoch != epoch_) return false;
  for (unsigned i = 0; i < kBytes / kWordBytes; ++i) Races::read_again(cells[i], access);
  trail_.leave();
  logs_[warp_].add(thread_ % kLanes, recent.site, array.identity + offset);
  if (trail_.is_led())
    trail_.add_load(recent.code, address, cells, access);
  else
    trail_.pass(recent.code);
  return true;
}

Tracer::Recent& Tracer::recent_of(const void* code, Kind kind) {
  const auto hash = reinterpret_cast<std::uintptr_t>(code);
  return recent_[(hash ^ hash >> 12 ^ static_cast<unsigned>(kind)) % recent_.size()];
}

template <unsigned kBytes>
void Tracer::load(const void* pointer, const void* code) {
  if (kernel_observer == this && !busy_ && !hang_is_to_be_reported && running_block &&
      running_block->current_number() == thread_) {
    if (trail_.catch_up(pointer, code) && Trail::follow(pointer, kBytes / kWordBytes, code)) return;
    Recent& recent = recent_of(code, Kind::load);
    const auto* address = static_cast<const char*>(pointer);
    if (recent.code == code && recent.stamp == stamp_ && recent.kind == Kind::load &&
        recent.array->contains(address) && load_at_once<kBytes>(recent, address))
      return;
  }
  How how{Kind::load};
  how.leads = true;
  access(pointer, kBytes, kBytes, how, code);
}
template void Tracer::load<4>(const void* pointer, const void* code);
template void Tracer::load<8>(const void* pointer, const void* code);
template void Tracer::load<16>(const void* pointer, const void* code);

// True if the load would be valid for every thread of the warp.
bool Tracer::is_right_for_all(const Array& array, std::size_t offset, unsigned bytes) const {
  const char* address = array.begin + offset;
  if (array.of_program || reinterpret_cast<std::uintptr_t>(address) % bytes != 0 ||
      offset % kWordBytes != 0 || array.is_unwritten(offset, bytes, true))
    return false;
  if (bytes == sizeof(void*) && array.space == Space::global) {
    const char* value;
    std::memcpy(&value, address, sizeof value);
    if (AddressSpace::of_program(value)) return false;
  }
  const Cell* const cells = &array.cells[offset / kWordBytes];
  return std::all_of(cells, cells + bytes / kWordBytes,
                     [&](const Cell& cell) { return races_.is_settled(cell); });
}

// Takes the API's lock, because other host threads may be inside API calls or run a kernel.
void Tracer::access_by_host(const Accessed& accessed) {
  const bool is_variable = in_device_variables(accessed.address);
  if (!is_variable && !arrays_.provided(accessed.address)) return;
  const Busy busy;
  if (const auto lock = lock_between_operations())
    is_variable ? host_.access_variable(accessed) : host_.access(accessed);
}

void Tracer::access(const void* pointer, unsigned bytes, unsigned piece, How how,
                    const void* code) {
  // Host code may run a template that is instrumented because kernels use it too. The template's
  // accesses are ignored while the tracer does not observe anything.
  if (kernel_observer != this || busy_) return;
  const auto* address = static_cast<const char*>(pointer);
  if (__builtin_expect(hang_is_to_be_reported, 0)) {
    const Busy busy;
    report_hang(CodePlace{code}.text().c_str());
  }
  if (!running_block) return access_by_host({address, bytes, how.kind, code});
  const auto hash = reinterpret_cast<std::uintptr_t>(code);
  Recent& recent = recent_of(code, how.kind);
  const bool is_known = recent.code == code && recent.stamp == stamp_ && recent.kind == how.kind;
  const bool is_close =
      is_known && recent.array->contains(address) &&
      (recent.array != &program_ || (!in_device_variables(address) && !find_shared(address)));
  if (!is_close) {
    if (AddressSpace::of_running_thread(address)) return;
    const Busy busy;
    Array* array = find_array(address, how.kind, bytes, code);
    if (!array) {
      if (!AddressSpace::of_program(address)) return;
      recent = {code, &program_, stamp_, 0, how.kind};
      return access_to_program(address, bytes, how);
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
  const Busy busy;
  if (&array == &program_) return access_to_program(address, bytes, how);
  const unsigned thread = running_block->current_number();
  if (thread != thread_) {
    change_thread(thread);
    if (how.leads && Trail::follow(pointer, bytes / kWordBytes, code)) return;
  }
  const Accessed accessed{address, bytes, how.kind, code};
  if (!array.contains(address, bytes)) return checks_.out_of_bounds(array, accessed);
  const unsigned alignment = std::min({bytes, piece, kMaxAccess});
  if (piece >= bytes && reinterpret_cast<std::uintptr_t>(address) % alignment != 0)
    checks_.misaligned(&array, accessed, alignment);
  look_at(array, accessed, how, recent.site);
  const std::size_t offset = array.offset_of(address);
  if (how.compares) races_.compare_and_swap(array, offset, thread_, now_);
  count(array, offset, std::min(bytes, piece), how, recent.site);
  if (how.leads && trail_.is_led() && is_right_for_all(array, offset, bytes))
    trail_.last_is_load(static_cast<const char*>(pointer), &array.cells[offset / kWordBytes]);
  for (unsigned done = piece, part = 1; done < bytes; done += piece, ++part) {
    const unsigned size = std::min(piece, bytes - done);
    count(array, offset + done, size, how,
          sites_.number_of({hash, kernel_, static_cast<std::uint8_t>(part),
                            static_cast<std::uint8_t>(size), array.space, how.kind}));
  }
  if (how.releases) make_fence();  // after the access, which is itself released
  if (fences_.any() && (how.is_atomic || how.is_volatile)) order(array.identity + offset, how);
}

}  // namespace hostcuda::trace
