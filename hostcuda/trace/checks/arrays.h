// The memory that kernels may use (allocations and shared variables), and the last accesses to each
// word of it.
#ifndef HOSTCUDA_TRACE_CHECKS_ARRAYS_H
#define HOSTCUDA_TRACE_CHECKS_ARRAYS_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "counts/sites.h"
#include "runtime/memory.h"
#include "support/source_line.h"

namespace hostcuda::trace {

// An access to a word of memory. The struct is small, because each word (four bytes) needs three
// such structs.
struct Access {
  std::uint32_t epoch = 0;  // time of the access (an index in Epochs); 0: no access
  std::uint32_t thread : 10 = 0;
  std::uint32_t bytes : 4 = 0;  // mask of the word's bytes that were accessed
  std::uint32_t is_atomic : 1 = 0;
  std::uint32_t is_volatile : 1 = 0;
  std::uint32_t site : 16 = 0;
  // No atomic is volatile, so both flags together mark an atomic whose scope is its block.
  bool has_scope_of_block() const { return is_atomic && is_volatile; }
};
static_assert(sizeof(Access) == 8);

// The record of a word: its last write, and the last reads of two threads. Two reads suffice,
// because the next writer cannot be both of these threads.
struct Cell {
  Access write;
  Access reads[2];
};

// Zeroed address space, which occupies no memory until it is written.
template <class Item>
class ZeroedMemory {
 public:
  explicit ZeroedMemory(std::size_t count = 0)
      : items_(static_cast<Item*>(count ? std::calloc(count, sizeof(Item)) : nullptr)) {
    if (count && !items_) std::abort();
  }
  Item* get() const { return items_.get(); }
  Item& operator[](std::size_t i) const { return items_.get()[i]; }

 private:
  struct Free {
    void operator()(Item* items) const { std::free(items); }
  };
  std::unique_ptr<Item, Free> items_;
};

// The last writer of a byte.
// kFill: cudaMemset set the byte to a small number. An element of several such bytes has no
// meaningful value.
enum Writer : std::uint8_t { kNobody, kHost, kKernel, kFill };

struct Array {
  const char* begin = nullptr;
  std::size_t size = 0;  // usable bytes; 0 after the array was freed
  std::size_t full_size = 0;
  std::uint64_t identity = 0;  // number of the first byte; no other byte in use has this number
  Space space = Space::global;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
  std::string name;  // empty if the name is unknown
  CodePlace allocated, released;
  const char* allocated_by = "";  // the API function
  bool is_freed = false;
  bool of_heap = false;     // allocated by a kernel
  bool of_program = false;  // a variable of the program, whose accesses are not counted
  bool is_used = false;
  std::uint64_t launches_before = 0;  // number of launches before the array was allocated
  ZeroedMemory<std::uint8_t> writers{0};
  ZeroedMemory<Cell> cells{0};
  std::uint32_t last_launch = 0;                 // the last launch that wrote to the array; 0: none
  unsigned element = 0;                          // the number of bytes that the last write wrote
  std::size_t filled = 0;                        // the furthest byte written by copies and fills
  CodePlace filled_at;                           // the last copy or fill
  std::size_t copied_back = 0, copies_back = 0;  // furthest byte copied, and number of copies
  CodePlace copy_back;                           // the last copy to the host
  bool knows_missing_part = false;               // the missing part has been reported

  void resize(std::size_t bytes);
  void forget(const CodePlace& where);  // marks the array as freed
  // True if the tracer sees every writer of the array. This holds only for device memory, because
  // host code and libraries may write to the other kinds of memory at any time.
  bool knows_writers() const { return kind == MemoryKind::device; }
  bool contains(const char* address, std::size_t bytes = 1) const {
    const auto offset = static_cast<std::size_t>(address - begin);
    return offset < size && size - offset >= bytes;
  }
  std::size_t offset_of(const char* address) const {
    return static_cast<std::size_t>(address - begin);
  }
  [[gnu::always_inline]] bool word_is_written(std::size_t offset) const {
    std::uint32_t word;
    std::memcpy(&word, writers.get() + offset, sizeof word);
    return !((word - 0x01010101u) & ~word & 0x80808080u);  // true if no byte is 0
  }
  bool all_written(std::size_t offset, std::size_t bytes) const {
    if (bytes == kWordBytes) return word_is_written(offset);  // most accesses are of this size
    return !std::memchr(writers.get() + offset, kNobody, bytes);
  }
  bool any_written(std::size_t offset, std::size_t bytes) const;
  // True if an access reads bytes that were not written. `is_whole`: the value needs all bytes;
  // otherwise one written byte suffices, because the others may be padding.
  bool is_unwritten(std::size_t offset, std::size_t bytes, bool is_whole) const {
    if (is_whole ? all_written(offset, bytes) : any_written(offset, bytes)) return false;
    return knows_writers() || (kind == MemoryKind::managed && holds_poison(offset, bytes));
  }
  // True if all words of these bytes contain the pattern that fills new memory. Host code may write
  // to managed memory without the tracer's knowledge, but hardly ever writes this pattern.
  bool holds_poison(std::size_t offset, std::size_t bytes) const;
};

// All allocations. Freed allocations stay in the list, because no address is used twice.
class Arrays {
 public:
  // Reserves the addresses that provide() hands out. Must be called before any lookup.
  void reserve();
  // Returns memory with kRoom unused bytes before and after it, or null if no memory is left.
  char* provide(std::size_t size);
  // Returns memory with only `room` unused bytes after it, for allocations that kernels make.
  char* provide_small(std::size_t size, std::size_t room);
  static constexpr std::size_t kRoom = std::size_t{1} << 20;

  // Returns the pages to the system, but keeps their addresses reserved.
  void give_back(const char* begin, std::size_t size) const;

  Array& add(const char* begin, std::size_t size);
  Array* find(const char* address);          // the array that contains the address
  Array* nearest(const char* address);       // the array may be freed; null if there is no array
  Array* beginning_at(const char* address);  // the array may be freed
  bool provided(const char* address) const {
    return static_cast<std::size_t>(address - reserved_) < reserved_size_;
  }
  const std::map<const char*, std::unique_ptr<Array>>& all() const { return by_begin_; }

 private:
  char* provide(std::size_t size, std::size_t alignment, std::size_t room);
  char* reserved_ = nullptr;
  std::size_t reserved_size_ = 0, used_ = 0;
  std::map<const char*, std::unique_ptr<Array>> by_begin_;
};

}  // namespace hostcuda::trace

#endif
