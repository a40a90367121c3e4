// Classifies memory outside arrays: what a kernel may access, and what it may not.
#ifndef HOSTCUDA_TRACE_ADDRESS_SPACE_H
#define HOSTCUDA_TRACE_ADDRESS_SPACE_H

#include <string>

#include "execution/block.h"

namespace hostcuda::trace {

struct AddressSpace {
  enum class Kind { allowed, of_other_thread, of_host, nothing };

  // A local variable of the emulated thread that runs, or of its operating-system thread
  // (threadIdx, for instance).
  static bool of_running_thread(const char* address) {
    const Fiber& fiber = *running_block->current().fiber;
    return static_cast<std::size_t>(address - static_cast<const char*>(fiber.stack_low)) <
               fiber.stack_size ||
           static_cast<std::size_t>(address - thread_locals.begin) < thread_locals.size;
  }
  static void begin_grid();  // another operating-system thread may run it
  static const char* program_begin() { return image.begin; }
  static std::size_t program_size() { return image.size; }
  static bool of_program(const char* address) {
    return static_cast<std::size_t>(address - image.begin) < image.size;
  }
  // Variables of the program (__device__ and __constant__ variables are such) and the kernel's
  // arguments are allowed.
  static Kind kind_of(const char* address);

 private:
  struct Range {
    const char* begin;
    std::size_t size;
  };
  static inline Range thread_locals{nullptr, 0};  // the program's thread-local variables
  static inline Range image{nullptr, 0};          // the program's code and its other variables
};

// The class whose virtual function table is at this address, as laid out by the Itanium C++ ABI;
// empty if there is none.
std::string class_of_virtual_table(const void* address);

}  // namespace hostcuda::trace

#endif
