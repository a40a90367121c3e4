// Finds the source line of a code address.
#ifndef HOSTCUDA_SRC_SUPPORT_SOURCE_LINE_H
#define HOSTCUDA_SRC_SUPPORT_SOURCE_LINE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace hostcuda {

// Returns the executable's load address, which converts a code address to an offset in the file.
std::uint64_t load_offset();

// Gets "file:line" of the code at the address from addr2line. If functions were inlined there, gets
// the line in the innermost function outside hostcuda's headers. Returns false if there is no debug
// information (-g) or no addr2line (binutils). A signal handler may call source_line().
bool source_line(const void* code, char* text, std::size_t size);

// Returns "file:line" of the code before the return address in the function that was not inlined,
// or an empty string.
std::string outermost_line(const void* return_address);

// Gets the line of the program from which the running code was called, directly or through
// functions of libraries and hostcuda. A signal handler may call calling_line().
bool calling_line(char* text, std::size_t size);

// True if the code before the return address comes from a file with this name.
bool is_code_of_header(const void* return_address, const char* name);

// A place in the program's source: a file and line from the compiler, or a return address, which
// points just after a call. Looking up the line of a return address takes milliseconds.
struct CodePlace {
  const void* return_address = nullptr;
  const char* file = nullptr;
  int line = 0;
  std::string text() const;  // returns "file:line" or an empty string
};

// If `place` is in a header of a library, such as Thrust, returns the line of the program that made
// the running call. Otherwise returns `place`.
CodePlace place_in_program(const CodePlace& place);

// True if "file:line" is in a header of hostcuda or of the standard library.
bool is_of_library(const std::string& line);

}  // namespace hostcuda

#endif
