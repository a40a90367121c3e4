// The contract of a fuzz target for any input: it returns, or throws a UsageError of one readable
// line. Anything else ends the process, which libFuzzer reports.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace nbody::fuzz {

[[noreturn]] inline void fail(const char* what, std::string_view detail = {}) {
  std::fprintf(stderr, "\nfuzz: %s: %.*s\n", what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

// A message ends up on a terminal: no line ends, no escape sequences, no megabytes.
inline void check_message(std::string_view message) {
  constexpr std::size_t kLongest = 1000;
  if (message.empty() || message.size() > kLongest) fail("message of a strange length", message);
  for (const char c : message)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) fail("control character", message);
}

}  // namespace nbody::fuzz
