// From the address of code to the line of its source.
#ifndef HOSTCUDA_SRC_SUPPORT_SOURCE_LINE_H
#define HOSTCUDA_SRC_SUPPORT_SOURCE_LINE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace hostcuda {

// Where the executable was loaded: what tells the address of code from its offset in the file.
std::uint64_t load_offset();

// "file:line" of the code at the address, by addr2line; of inlined functions the innermost that is
// not in hostcuda's headers. False without debug information (-g) or without addr2line (binutils).
// May be called in a signal handler.
bool source_line(const void* code, char* text, std::size_t size);

// The line of the program's from which the running code was called, however deep it is in libraries
// and in hostcuda. May be called in a signal handler.
bool calling_line(char* text, std::size_t size);

// Whether the code before the return address was written in a file with such a name.
bool is_code_of_header(const void* return_address, const char* name);

// A place in the program's source: as the compiler said it, or of a return address, which is the
// one after a call. Looking that up takes milliseconds.
struct CodePlace {
  const void* return_address = nullptr;
  const char* file = nullptr;
  int line = 0;
  std::string text() const;  // "file:line", or empty
};

}  // namespace hostcuda

#endif
