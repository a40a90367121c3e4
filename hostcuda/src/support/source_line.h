// Finds the source line of a code address.
#ifndef HOSTCUDA_SRC_SUPPORT_SOURCE_LINE_H
#define HOSTCUDA_SRC_SUPPORT_SOURCE_LINE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace hostcuda {

// The executable's load address: converts a code address to an offset in the file.
std::uint64_t load_offset();

// "file:line" of the code at the address, by addr2line; among inlined functions the innermost that
// is not in hostcuda's headers. False without debug information (-g) or addr2line (binutils). May
// be called in a signal handler.
bool source_line(const void* code, char* text, std::size_t size);

// The program's line that called the running code, through any number of library and hostcuda
// functions. May be called in a signal handler.
bool calling_line(char* text, std::size_t size);

// True if the code before the return address is from a file with this name.
bool is_code_of_header(const void* return_address, const char* name);

// A place in the program's source, given by the compiler or by a return address, which points after
// a call. Looking that up takes milliseconds.
struct CodePlace {
  const void* return_address = nullptr;
  const char* file = nullptr;
  int line = 0;
  std::string text() const;  // "file:line", or empty
};

}  // namespace hostcuda

#endif
