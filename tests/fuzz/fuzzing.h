// For any input, a fuzz target must either return or throw a UsageError whose message is one
// readable line. If anything else happens, the process ends, which libFuzzer reports.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace nbody::fuzz {

[[noreturn]] inline void fail(const char* what, std::string_view detail = {}) {
  std::fprintf(stderr, "\nfuzz: %s: %.*s\n", what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

// A message is shown on a terminal, so it must not contain line ends or escape sequences, and must
// not be megabytes long.
inline void check_message(std::string_view message) {
  constexpr std::size_t kLongest = 1000;
  if (message.empty() || message.size() > kLongest) fail("message of a strange length", message);
  for (const char c : message)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) fail("control character", message);
}

}  // namespace nbody::fuzz
