// One frame of a run, as it is sent to the page. Version 1, little-endian:
//
//   offset  type      field
//        0  char[4]   magic "NBVF"
//        4  u32       version, 1
//        8  u32       bytes before the bodies, h: 64, or 64 + 12 n for few bodies
//       12  u32       bodies in this frame, n
//       16  i64       step
//       24  f64       time, in the units of the run
//       32  f64       time steps per second of wall clock, 0: not known yet
//       40  f64       interactions per second of computing, 0: not known
//       48  f64       relative energy error, NaN: not known (live runs send it in a status)
//       56  u64       index of the frame, from 1
//       64  f32[3 n]  only for few bodies: the velocity of every body, for its orbit
//        h  f32[4 n]  x, y, z, speed of every body, system after system
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "nbody/bodies.h"
#include "thinning.h"

namespace nbody::view {

inline constexpr std::size_t kFrameHeaderBytes = 64;
inline constexpr std::size_t kBytesPerShownBody = 16;

struct FrameHead {
  std::int64_t step = 0;
  double time = 0;
  double steps_per_second = 0;
  double interactions_per_second = 0;
  double energy_error = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t number = 0;
};

// If there are at most this many bodies, their names, masses and velocities are sent too.
inline constexpr std::size_t kFewBodies = 64;

double interactions_per_second(std::string_view frame);

// Returns the bytes of a frame. Leapfrog stores positions that are ahead of the velocities, so each
// shown body is moved along its velocity for the time `drift`.
std::string encode_frame(const FrameHead& head, const Systems& systems, const Thinning& thinning,
                         float drift = 0);

}  // namespace nbody::view
