#include "checks/arrays.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "support/poison.h"

namespace hostcuda::trace {

void Array::resize(std::size_t bytes) {
  size = full_size = bytes;
  writers = ZeroedMemory<std::uint8_t>(bytes);
  cells = ZeroedMemory<Cell>((bytes + kWordBytes - 1) / kWordBytes + 1);
}

void Array::forget(const CodePlace& where) {
  size = 0;
  is_freed = true;
  writers = ZeroedMemory<std::uint8_t>(0);
  cells = ZeroedMemory<Cell>(0);
  released = where;
}

bool Array::any_written(std::size_t offset, std::size_t bytes) const {
  const std::uint8_t* first = writers.get() + offset;
  return std::any_of(first, first + bytes, [](std::uint8_t writer) { return writer != kNobody; });
}

bool Array::holds_poison(std::size_t offset, std::size_t bytes) const {
  for (std::size_t at = offset / kWordBytes * kWordBytes; at < offset + bytes; at += kWordBytes) {
    std::uint32_t word;
    if (full_size - at < sizeof word) return false;
    std::memcpy(&word, begin + at, sizeof word);
    if (word != kPoison) return false;
  }
  return true;
}

// Reserves as much address space as the system allows, which uses no memory.
void Arrays::reserve() {
  constexpr std::size_t kLargest = std::size_t{1} << 40;
  for (reserved_size_ = kLargest; reserved_size_; reserved_size_ /= 2) {
    void* mapping = mmap(nullptr, reserved_size_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) continue;
    reserved_ = static_cast<char*>(mapping);
    return;
  }
}

char* Arrays::provide(std::size_t size) { return provide(size, 4096, kRoom); }

char* Arrays::provide_small(std::size_t size, std::size_t room) { return provide(size, 16, room); }

char* Arrays::provide(std::size_t size, std::size_t alignment, std::size_t room) {
  const auto aligned = [=](std::size_t n) { return (n + alignment - 1) / alignment * alignment; };
  const std::size_t first = aligned(used_ == 0 ? kRoom : used_);
  const std::size_t padded = aligned(size) + room;
  if (first > reserved_size_ || padded > reserved_size_ - first) return nullptr;
  used_ = first + padded;
  return reserved_ + first;
}

void Arrays::give_back(const char* begin, std::size_t size) const {
  if (provided(begin)) madvise(const_cast<char*>(begin), size, MADV_DONTNEED);
}

Array& Arrays::add(const char* begin, std::size_t size) {
  auto& array = by_begin_[begin];
  array = std::make_unique<Array>();
  array->begin = begin;
  array->identity = reinterpret_cast<std::uint64_t>(begin);
  array->resize(size);
  return *array;
}

Array* Arrays::find(const char* address) {
  const auto next = by_begin_.upper_bound(address);
  if (next == by_begin_.begin()) return nullptr;
  Array* array = std::prev(next)->second.get();
  return array->contains(address) ? array : nullptr;
}

Array* Arrays::nearest(const char* address) {
  const auto next = by_begin_.upper_bound(address);
  Array* after = next == by_begin_.end() ? nullptr : next->second.get();
  Array* before = next == by_begin_.begin() ? nullptr : std::prev(next)->second.get();
  const auto past_end = [&] {
    const auto offset = static_cast<std::size_t>(address - before->begin);
    return offset < before->full_size ? 0 : offset - before->full_size + 1;
  };
  const std::size_t to_after = after ? static_cast<std::size_t>(after->begin - address) : SIZE_MAX;
  const std::size_t to_before = before ? past_end() : SIZE_MAX;
  return to_before <= to_after ? before : after;
}

Array* Arrays::beginning_at(const char* address) {
  const auto found = by_begin_.find(address);
  return found == by_begin_.end() ? nullptr : found->second.get();
}

}  // namespace hostcuda::trace
