// The two pipes between the judge and a submission: the judge sends a state through one, and the
// result of simulate() comes back through the other. No other output of a submission counts.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace nbody::grading {

inline constexpr std::uint32_t kRequestMark = 0x6e62713f, kReplyMark = 0x6e62613d;

// Sent to the submission, followed by the bodies of all systems.
struct Request {
  std::uint32_t mark = kRequestMark;
  std::int32_t systems = 0, bodies = 0, steps = 0, devices = 1;
  float dt = 0, softening_squared = 0;
};
// Sent to the judge, followed by `bodies` bodies.
struct Reply {
  std::uint32_t mark = kReplyMark;
  std::uint64_t bodies = 0;
};

// Returns true if all bytes were moved, and false at the end of the pipe.
inline bool read_whole(int file, void* data, std::size_t bytes) {
  for (char* to = static_cast<char*>(data); bytes > 0;) {
    const ssize_t moved = ::read(file, to, bytes);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    to += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

inline bool write_whole(int file, const void* data, std::size_t bytes) {
  for (const char* from = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t moved = ::write(file, from, bytes);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    from += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

}  // namespace nbody::grading
