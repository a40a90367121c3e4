// Decides whether a kernel may access memory that is not in an array.
#ifndef HOSTCUDA_TRACE_ADDRESS_SPACE_H
#define HOSTCUDA_TRACE_ADDRESS_SPACE_H

#include <string>

#include "execution/block.h"

namespace hostcuda::trace {

struct AddressSpace {
  enum class Kind { allowed, of_other_thread, of_host, nothing };

  // True for a local variable of the running emulated thread, and for a thread-local variable of
  // its operating-system thread (threadIdx, for example).
  static bool of_running_thread(const char* address) {
    const Fiber& fiber = *running_block->current().fiber;
    return static_cast<std::size_t>(address - static_cast<const char*>(fiber.stack_low)) <
               fiber.stack_size ||
           static_cast<std::size_t>(address - thread_locals.begin) < thread_locals.size;
  }
  static void begin_grid();  // called for each grid, because each may run on another thread
  static const char* program_begin() { return image.begin; }
  static std::size_t program_size() { return image.size; }
  static bool of_program(const char* address) {
    return static_cast<std::size_t>(address - image.begin) < image.size;
  }
  // A kernel may access its arguments and the program's variables (which include the __device__ and
  // __constant__ variables).
  static Kind kind_of(const char* address);

 private:
  struct Range {
    const char* begin;
    std::size_t size;
  };
  static inline Range thread_locals{nullptr, 0};  // the program's thread-local variables
  static inline Range image{nullptr, 0};          // the program's code and its other variables
};

// Returns the class whose table of virtual functions is at this address, or an empty string if no
// table is there. Assumes the table layout of the Itanium C++ ABI.
std::string class_of_virtual_table(const void* address);

}  // namespace hostcuda::trace

#endif
