// What a kernel may touch besides arrays, and what it may not.
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
  static void begin_grid();  // the operating-system thread may be another one
  static const char* program_begin() { return image.begin; }
  static std::size_t program_size() { return image.size; }
  static bool of_program(const char* address) {
    return static_cast<std::size_t>(address - image.begin) < image.size;
  }
  // Allowed are the variables of the program, which __device__ and __constant__ ones are, and the
  // arguments of the kernel.
  static Kind kind_of(const char* address);

 private:
  struct Range {
    const char* begin;
    std::size_t size;
  };
  static inline Range thread_locals{nullptr, 0};  // of the program
  static inline Range image{nullptr, 0};          // its code and its other variables
};

// The class whose table of virtual functions is at this address of the program's, as the Itanium
// C++ ABI lays it out; empty where it is none.
std::string class_of_virtual_table(const void* address);

}  // namespace hostcuda::trace

#endif
