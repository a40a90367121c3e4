// From the address of code to the line of its source.
#ifndef HOSTCUDA_SRC_SUPPORT_SOURCE_LINE_H
#define HOSTCUDA_SRC_SUPPORT_SOURCE_LINE_H

#include <cstddef>
#include <cstdint>

namespace hostcuda {

// Where the executable was loaded: what tells the address of code from its offset in the file.
std::uint64_t load_offset();

// "file:line" of the code at the address, by addr2line; of inlined functions the innermost that is
// not in hostcuda's headers. False without debug information (-g) or without addr2line (binutils).
// May be called in a signal handler.
bool source_line(const void* code, char* text, std::size_t size);

}  // namespace hostcuda

#endif
