// Code that was compiled with g++ -fsanitize=bounds,signed-integer-overflow calls these functions
// when an integer overflows, or when an index is outside an array whose size the compiler knows,
// even a local array.
#include <cstdint>
#include <mutex>
#include <string>

#include "execution/block.h"
#include "runtime/api.h"
#include "tracer.h"

namespace {

// These structs have the same layout as in libubsan.
struct SourceLocation {
  const char* file;
  std::uint32_t line, column;
};
struct TypeDescriptor {
  std::uint16_t kind, info;
  char name[1];
};
struct OutOfBoundsData {
  SourceLocation place;
  const TypeDescriptor *array, *index;
};
struct OverflowData {
  SourceLocation place;
  const TypeDescriptor* type;
};

std::string text(const SourceLocation& place) {
  return hostcuda::CodePlace{nullptr, place.file, static_cast<int>(place.line)}.text();
}

// Values up to the size of a machine word are passed directly. The lowest bit of `info` is set for
// signed types; the other bits are the binary logarithm of the number of bits.
long long value_of(const TypeDescriptor& type, std::uintptr_t value) {
  const unsigned bits = 1u << (type.info >> 1);
  if (bits >= 64) return static_cast<long long>(value);
  const auto shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << (64 - bits));
  return type.info & 1 ? shifted >> (64 - bits)
                       : static_cast<long long>(static_cast<std::uint64_t>(shifted) >> (64 - bits));
}

void report_overflow(const OverflowData& data, const char* operation, const void* code) {
  using hostcuda::trace::tracer;
  if (!tracer || !hostcuda::running_block) return;
  tracer->checks().said_by_compiler(
      "overflow", std::string(operation) + " overflows " + data.type->name, text(data.place), "",
      nullptr, "compute indices in std::size_t or long long", code);
}

}  // namespace

extern "C" {

void __ubsan_handle_out_of_bounds(OutOfBoundsData* data, std::uintptr_t index) {
  using hostcuda::trace::tracer;
  if (!tracer) return;
  std::unique_lock lock(hostcuda::api_mutex(), std::defer_lock);
  if (!hostcuda::running_block) lock.lock();  // another host thread may be running a kernel
  const long long number = value_of(*data->index, index);
  tracer->checks().said_by_compiler(
      "out of bounds",
      "index " + std::to_string(number) + " is out of bounds of " + data->array->name,
      text(data->place), data->array->name, &number,
      "compare the index with the number of elements", __builtin_return_address(0));
}

#define OVERFLOW(name, operation)                                                             \
  void __ubsan_handle_##name##_overflow(OverflowData* data, std::uintptr_t, std::uintptr_t) { \
    report_overflow(*data, operation, __builtin_return_address(0));                           \
  }
OVERFLOW(add, "a sum")
OVERFLOW(sub, "a difference")
OVERFLOW(mul, "a product")
OVERFLOW(divrem, "a quotient")
void __ubsan_handle_negate_overflow(OverflowData* data, std::uintptr_t) {
  report_overflow(*data, "a negation", __builtin_return_address(0));
}
}
