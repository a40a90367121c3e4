#include "checks/host_checks.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "checks/coverage.h"
#include "checks/host_blocks.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/symbol.h"

namespace hostcuda::trace {
namespace {

Finding of_call(const char* kind, std::string what, std::string advice) {
  Finding finding(kind, std::move(what), std::move(advice));
  if (const CallSite* call = CallSite::current()) finding.place = call->place().text();
  return finding;
}

std::uint8_t copied_writer(std::uint8_t writer) {
  return writer == kNobody || writer == kFill ? writer : std::uint8_t{kHost};
}

std::string called() {
  const CallSite* call = CallSite::current();
  return call ? call->function() : "a call";
}

}  // namespace

void HostChecks::allocated(const char* begin, std::size_t size, MemoryKind kind) {
  Array& array = arrays_.add(begin, size);
  array.kind = kind;
  array.device = current_device();
  array.launches_before = epochs_.launches();
  if (const CallSite* call = CallSite::current()) {
    array.allocated = place_in_program(call->place());
    array.allocated_by = call->function();
  }
  has_results_ |= kind != MemoryKind::device;  // host code may read the array at any time
}

void HostChecks::released(const char* begin) {
  Array* array = arrays_.beginning_at(begin);
  if (!array) return;
  look_for_the_rest(*array);
  look_for_use(*array);
  arrays_.give_back(begin, array->full_size);
  const CallSite* call = CallSite::current();
  array->forget(call ? place_in_program(call->place()) : CodePlace{});
}

void HostChecks::free_refused(const void* pointer) {
  const auto* address = static_cast<const char*>(pointer);
  const Array* array = arrays_.beginning_at(address);
  if (!array) array = arrays_.find(address);
  const bool again = array && array->is_freed;
  const bool inside = array && !again && array->begin != address;
  Finding finding = of_call(
      again ? "double free" : "bad free",
      called() + (again    ? " of memory that was freed already"
                  : inside ? " of an address inside an allocation"
                  : array  ? " of memory that another function frees"
                           : " of memory that the API did not allocate"),
      again ? "free it once, then set the pointer to null"
            : "pass the pointer from the allocating function: cudaFree for cudaMalloc and "
              "cudaMallocManaged, cudaFreeHost for cudaMallocHost and cudaHostAlloc, free for "
              "malloc");
  if (array) describe(finding, *array);
  report(std::move(finding));
  is_told_ = true;
}

HostChecks::Refusal HostChecks::reason_of_refusal(const void* to, const void* from,
                                                  std::size_t size, cudaMemcpyKind direction) {
  for (const void* pointer : {to, from}) {
    const std::string what = pointer == to ? "the target" : "the source";
    const auto* address = static_cast<const char*>(pointer);
    if (!pointer) {
      if (pointer == from && direction == cudaMemcpyDefault) continue;  // a fill has no source
      return {what + " is a null pointer", "allocate it, and check the result of the allocation"};
    }
    const Array* array = arrays_.provided(address) ? arrays_.nearest(address) : nullptr;
    if (!array) continue;
    if (array->is_freed)
      return {what + " was freed: " + description_of(*array, 1), "free it after the last copy"};
    if (array->of_heap)
      return {what + " is memory that a kernel allocated, and the API cannot access it: " +
                  description_of(*array, 1),
              "let a kernel copy the data to memory that cudaMalloc allocated"};
    if (!array->contains(address, size))
      return {
          std::to_string(size) + " bytes do not fit: " + what + " is " + description_of(*array, 1),
          "allocate as many bytes as the copy needs, or copy fewer: both sizes are in bytes"};
  }
  if (!from) return {"a fill needs device memory", "call memset for host memory"};
  const auto is_device = [&](const void* pointer) {
    return classify(pointer, 1).kind == MemoryKind::device;
  };
  const bool to_device = is_device(to), from_device = is_device(from);
  return {std::string("the direction does not fit: the target is ") +
              (to_device ? "device" : "host") + " memory, and the source is " +
              (from_device ? "device" : "host") + " memory",
          std::string("pass ") +
              (to_device     ? from_device ? "cudaMemcpyDeviceToDevice" : "cudaMemcpyHostToDevice"
               : from_device ? "cudaMemcpyDeviceToHost"
                             : "cudaMemcpyHostToHost") +
              ", or swap the pointers: the target comes first"};
}

void HostChecks::copy_refused(const void* to, const void* from, std::size_t size,
                              cudaMemcpyKind direction) {
  for (const void* pointer : {to, from})
    if (const char* name = variable_without_address(pointer)) {
      Finding finding =
          of_call("bad copy",
                  called() + " receives the address of the __device__ variable " + name +
                      " as host code sees it, so a GPU would not copy the variable",
                  pointer == to ? "call cudaMemcpyToSymbol" : "call cudaMemcpyFromSymbol");
      finding.advice += ", which takes the variable itself, or call cudaGetSymbolAddress";
      finding.array = name;
      report(std::move(finding));
      is_told_ = true;
      return;
    }
  const Refusal refusal = reason_of_refusal(to, from, size, direction);
  Finding finding =
      of_call("bad copy", called() + " is rejected; nothing is copied", refusal.advice);
  finding.details.push_back(refusal.reason);
  report(std::move(finding));
  is_told_ = true;
}

// Stores an error if the program ignores the result of the call, or if the call is a launch, which
// returns no result.
void HostChecks::failed(cudaError_t error, const std::string& reason) {
  const CallSite* call = CallSite::current();
  if (std::exchange(is_told_, false) || !call) return;
  // After a kernel has failed, every call fails, so it is enough if the program checks one of them.
  if (context_is_broken() && std::exchange(is_known_to_be_broken_, true)) return;
  const bool is_launch = call->place().file;
  const std::lock_guard lock(unasked_mutex_);
  if (is_launch || call->result_is_ignored())
    unasked_.push_back({call->function(), call->place(), error, is_launch, reason});
}

void HostChecks::library_failed(const char* function, int status, const CodePlace& place) {
  Finding finding("unchecked error",
                  std::string(function) + " failed with status " + std::to_string(status) +
                      " and computed nothing, and its status was not checked",
                  "check the status of every call of a library");
  constexpr int kInvalidValue = 7;
  if (!std::strncmp(function, "cublas", 6) && status == kInvalidValue)
    finding.details.push_back(
        "status 7 is CUBLAS_STATUS_INVALID_VALUE: a size is negative, a pointer is null, or a "
        "leading "
        "dimension is smaller than the number of rows (matrices are column-major)");
  finding.place = place.text();
  report(std::move(finding));
}

void HostChecks::filled(const char* to, int value, std::size_t size) {
  constexpr int kLargestNumber = 16;  // larger bytes may be a deliberate pattern
  Array* array = arrays_.find(to);
  if (!array || value <= 0 || value > kLargestNumber) return;
  std::memset(array->writers.get() + array->offset_of(to), kFill, size);
}

std::size_t HostChecks::uses_host_memory(const void* begin, std::size_t size, bool writes) {
  const std::size_t room = host_blocks().bytes_from(begin);
  if (room >= size) return size;
  Finding finding = of_call(
      "bad copy",
      called() + (writes ? " writes " : " reads ") + std::to_string(size) +
          " bytes at an address from which only " + std::to_string(room) +
          " bytes of host memory are allocated",
      "allocate as many bytes as the copy needs (for std::vector, elements), or copy fewer");
  if (const Operation* running = running_operation()) finding.place = running->place.text();
  report(std::move(finding));
  return room;
}

// The library may have written to any array, so from now on every unwritten array counts as
// written.
void HostChecks::library_has_run() {
  for (const auto& [begin, array] : arrays_.all()) {
    if (array->is_freed || !array->knows_writers() || array->any_written(0, array->size)) continue;
    std::memset(array->writers.get(), kHost, array->size);
    array->is_used = true;
  }
}

void HostChecks::texture_bound(const void* begin, std::size_t size, std::size_t texel) {
  const auto* address = static_cast<const char*>(begin);
  const Array* array = arrays_.find(address);
  if (!array) return;
  const std::size_t room = array->size - array->offset_of(address);
  const bool in_elements = texel > 1 && size * texel == room;
  if (size <= room && !in_elements) return;
  Finding finding =
      of_call("texture size",
              in_elements ? "the texture has only " + std::to_string(size) + " of the " +
                                std::to_string(room) + " bytes of " + name_of(*array) +
                                ", one byte for each " + std::to_string(texel) + "-byte element"
                          : "the texture has " + std::to_string(size) + " bytes, but only " +
                                std::to_string(room) + " bytes of " + name_of(*array) +
                                " follow its address",
              "sizeInBytes is a number of bytes: multiply the number of elements by sizeof");
  describe(finding, *array, static_cast<unsigned>(texel));
  report(std::move(finding));
}

void HostChecks::asked_too_early() {
  report(of_call("not synchronised",
                 called() + " reads an event that may not have been recorded yet: a GPU may return "
                            "cudaErrorNotReady",
                 "wait for the later event first: cudaEventSynchronize"));
}

void HostChecks::mark(Array& array, std::size_t offset, std::size_t size, std::uint32_t epoch,
                      bool is_write) {
  Access access;
  access.epoch = epoch;
  access.bytes = 15;
  access.site = 0xffff;
  const Unordered* found = nullptr;
  for (std::size_t at = offset; at < offset + size; at += kWordBytes)
    if (const Unordered* one = races_.access_between(array, at, access, is_write); one && !found)
      checks_.unordered(
          array, {array.begin + at, kWordBytes, is_write ? Kind::store : Kind::load, nullptr},
          (found = one)->operation);
}

std::uint32_t HostChecks::begin_operation() {
  const Operation* running = running_operation();
  OperationRecord record(*running);
  record.what = running->function;
  record.place = running->place;
  Epoch now;
  now.operation = epochs_.begin_operation(record);
  now.block = now.cluster = ~0u;
  return epochs_.add(now);
}

void HostChecks::claimed(const char* begin) {
  Array* array = arrays_.beginning_at(begin);
  if (array && !array->is_freed && running_operation())
    mark(*array, 0, array->size, begin_operation(), true);
}

void HostChecks::copied(const char* to, const char* from, std::size_t size) {
  if (!running_operation()) return;
  Array* target = arrays_.find(to);
  Array* source = from ? arrays_.find(from) : nullptr;
  if (target && from && !source) inputs_.insert(size);
  const DeviceVariableRange variable = device_variable_at(to);
  if (variable.name && source) copied_on_device_.insert(variable.begin);
  has_results_ |= !target && !variable.name;
  const auto is_on_device = [](const Array* array, const char* address) {
    return array ? array->kind == MemoryKind::device : in_device_variables(address);
  };
  // If `from` is null, the operation is a fill of an array, or cudaMemcpyFromSymbol.
  const bool is_readable = from ? source || is_on_device(source, from) : !target;
  if (is_readable && !is_on_device(target, to)) bytes_to_host_ += size;
  const bool is_back =
      source && source->knows_writers() && !variable.name && !(target && target->knows_writers());
  // Looks for the missing part first, because begin_operation() forgets which launch read the
  // array.
  std::optional<Finding> missing;
  if (is_back) missing = missing_part(*source, source->offset_of(from), size, epochs_);
  const std::uint32_t epoch = begin_operation();
  if (source) {
    source->is_used = true;
    mark(*source, source->offset_of(from), size, epoch, false);
    if (is_back) copied_back(*source, source->offset_of(from) + size, std::move(missing));
  }
  if (!target) return;
  target->is_used = true;
  mark(*target, target->offset_of(to), size, epoch, true);
  std::uint8_t* writers = target->writers.get() + target->offset_of(to);
  if (source && source->knows_writers())
    for (std::size_t i = 0; i < size; ++i)
      writers[i] = copied_writer(source->writers[source->offset_of(from) + i]);
  else
    std::memset(writers, kHost, size);
  target->filled = std::max(target->filled, target->offset_of(to) + size);
  target->filled_at = running_operation()->place;
}

void HostChecks::copied_back(Array& array, std::size_t end, std::optional<Finding> missing) {
  ++array.copies_back;
  array.copy_back = running_operation()->place;
  array.copied_back = std::max(array.copied_back, end);
  if (!missing) return;
  missing->place = array.copy_back.text();
  report_unasked();  // an unchecked error may be the cause
  report(std::move(*missing));
  array.knows_missing_part = true;
}

void HostChecks::look_for_the_rest(const Array& array) const {
  if (std::optional<Finding> finding = bytes_for_elements(array)) report(std::move(*finding));
}

// Ignores arrays that are not in device memory, because host code may use them. Also ignores arrays
// that were allocated after the last kernel launch.
void HostChecks::look_for_use(const Array& array) const {
  if (array.is_used || array.of_heap || array.kind != MemoryKind::device ||
      array.launches_before == epochs_.launches())
    return;
  Finding finding("unused memory",
                  std::to_string(array.full_size) + " bytes are allocated but never used",
                  "pass the memory to the kernel that it is meant for, or do not allocate it");
  finding.place = array.allocated.text();
  describe(finding, array);
  report(std::move(finding));
}

void HostChecks::access(const Accessed& accessed) {
  if (running_operation() || CallSite::current()) return;
  Array* array = arrays_.nearest(accessed.address);
  if (!array) return;
  if (array->is_freed || !array->contains(accessed.address, accessed.bytes))
    return checks_.out_of_bounds(*array, accessed);
  if (accessed.kind == Kind::load) bytes_to_host_ += accessed.bytes;
  if (array->kind == MemoryKind::device) return checks_.device_memory(*array, accessed);
  const std::size_t offset = array->offset_of(accessed.address);
  if (accessed.kind == Kind::load &&
      array->is_unwritten(offset, accessed.bytes, accessed.bytes <= 8)) {
    report_unasked();  // a failed launch may be the cause
    checks_.unwritten(*array, accessed, 0);
  }
  for (std::size_t at = offset; at < offset + accessed.bytes; at += kWordBytes)
    if (const Unordered* found = races_.access_between(*array, at, {}, accessed.kind != Kind::load))
      return checks_.unordered(*array, accessed, found->operation);
}

void HostChecks::access_variable(const Accessed& accessed) {
  const char* name = device_variable_at(accessed.address).name;
  if (!name || running_operation() || CallSite::current()) return;
  if (accessed.kind == Kind::load) bytes_to_host_ += accessed.bytes;
  checks_.device_variable(name, accessed);
}

// Makes one finding for all leaked allocations that were made at the same place.
void HostChecks::report_leaks() const {
  struct Leak {
    std::size_t bytes = 0, times = 0;
    const Array* example = nullptr;
  };
  std::map<std::pair<const void*, const char*>, Leak> leaks;
  for (const auto& [begin, array] : arrays_.all()) {
    if (array->is_freed) continue;
    look_for_use(*array);
    Leak& leak = leaks[{array->allocated.return_address, array->allocated.file}];
    leak.bytes += array->full_size;
    ++leak.times;
    leak.example = array.get();
  }
  for (const auto& [place, leak] : leaks) {
    const Array& array = *leak.example;
    const std::string calls =
        leak.times == 1 ? "one allocation" : std::to_string(leak.times) + " allocations";
    Finding finding(
        "leak",
        std::to_string(leak.bytes) + " bytes of " + calls + " are not freed when the program ends",
        array.of_heap                      ? "free the memory in a kernel, with free or delete"
        : array.kind == MemoryKind::pinned ? "free the memory with cudaFreeHost"
                                           : "free the memory with cudaFree");
    finding.place = array.allocated.text();
    describe(finding, array);
    finding.count = leak.times;
    report(std::move(finding));
  }
}

std::vector<HostChecks::Failure> HostChecks::take_unasked() {
  const std::lock_guard lock(unasked_mutex_);
  return std::exchange(unasked_, {});
}

void HostChecks::report_unasked() {
  for (const Failure& failure : take_unasked()) {
    Finding finding(
        "unchecked error",
        (failure.is_launch ? "the launch of " : "") + failure.function + " failed (" +
            cudaGetErrorName(failure.error) + ": " +
            (failure.reason.empty() ? cudaGetErrorString(failure.error) : failure.reason) +
            "), and its error was not checked",
        failure.is_launch ? "call cudaGetLastError() after every launch"
                          : "check the result of every API call");
    finding.place = failure.place.text();
    report(std::move(finding));
  }
}

// Looks for the most frequent mistake of beginners: a program copies an array to the device,
// launches kernels that write an array of the same size, and never copies data back. Programs that
// only measure time, print in kernels, or use memory that host code can read are exempt.
void HostChecks::look_for_lost_results() const {
  if (has_results_) return;
  const Array* last = nullptr;
  for (const auto& [begin, array] : arrays_.all())
    if (array->last_launch && inputs_.contains(array->full_size) &&
        (!last || array->last_launch >= last->last_launch))
      last = array.get();
  if (!last) return;
  const OperationRecord& launch = epochs_.operation(last->last_launch);
  Finding finding("lost result",
                  launch.what + " writes " + name_of(*last) +
                      ", but the program never copies a result to the host",
                  "copy the result with cudaMemcpy(..., cudaMemcpyDeviceToHost) after the launch");
  finding.place = launch.place.text();
  describe(finding, *last, last->element);
  report(std::move(finding));
}

void HostChecks::program_ends(int status) {
  report_unasked();
  for (const auto& [begin, array] : arrays_.all())
    if (!array->is_freed) look_for_the_rest(*array);
  if (status != 0 || context_is_broken()) return;
  look_for_lost_results();
  report_leaks();
}

}  // namespace hostcuda::trace
