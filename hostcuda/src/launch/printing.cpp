// printf. These functions replace the C library's in the whole program, because host code and
// kernels call the same function, and only their results differ.
#include "launch/printing.h"

#include <cstdio>
#include <cstring>

#include "execution/block.h"

namespace hostcuda {
namespace {

// The number of arguments that the format needs; a `*` in a conversion takes one more.
int arguments_of(const char* format) {
  int count = 0;
  while ((format = std::strchr(format, '%'))) {
    if (*++format == '%') {
      ++format;
      continue;
    }
    for (; *format && std::strchr("-+ #0123456789.*hlLjzt", *format); ++format)
      count += *format == '*';
    count += *format != '\0';
  }
  return count;
}

}  // namespace

int print(const char* format, va_list arguments) {
  if (!running_block) return std::vprintf(format, arguments);
  if (!format) return -1;
  const int count = arguments_of(format);
  return std::vprintf(format, arguments) < 0 ? -2 : count;
}

}  // namespace hostcuda

// The names are given to the assembler, because <stdio.h> may define printf itself.
extern "C" {
int hostcuda_print(const char* format, ...) __asm__("printf");
int hostcuda_print_checked(int flag, const char* format, ...) __asm__("__printf_chk");

int hostcuda_print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = hostcuda::print(format, arguments);
  va_end(arguments);
  return result;
}
// Compilers call this function instead of printf with _FORTIFY_SOURCE.
int hostcuda_print_checked(int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = hostcuda::print(format, arguments);
  va_end(arguments);
  return result;
}
}
