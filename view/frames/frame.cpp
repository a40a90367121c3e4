#include "frame.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace nbody::view {
namespace {

static_assert(std::endian::native == std::endian::little,
              "frames are copied as they lie in memory");

// Writes values one after another into memory, which must be large enough for all of them.
class Writer {
 public:
  explicit Writer(char* place) : place_(place) {}
  template <class Value>
  void write(const Value& value) {
    std::memcpy(place_, &value, sizeof value);
    place_ += sizeof value;
  }

 private:
  char* place_;
};

void write_head(Writer out, const FrameHead& head, std::size_t header, std::size_t shown) {
  out.write(std::array{'N', 'B', 'V', 'F'});
  out.write(std::uint32_t{1});
  out.write(static_cast<std::uint32_t>(header));
  out.write(static_cast<std::uint32_t>(shown));
  out.write(head.step);
  out.write(head.time);
  out.write(head.steps_per_second);
  out.write(head.interactions_per_second);
  out.write(head.energy_error);
  out.write(head.number);
}

void write_velocities(Writer out, const Systems& systems) {
  for (const Body& body : systems.bodies) out.write(std::array{body.vx, body.vy, body.vz});
}

std::array<float, 4> shown_body(const Body& b, float drift) {
  const float speed = std::sqrt(b.vx * b.vx + b.vy * b.vy + b.vz * b.vz);
  return {b.x + b.vx * drift, b.y + b.vy * drift, b.z + b.vz * drift, speed};
}

}  // namespace

double interactions_per_second(std::string_view frame) {
  double rate = 0;
  if (frame.size() >= kFrameHeaderBytes) std::memcpy(&rate, frame.data() + 40, sizeof rate);
  return rate;
}

std::string encode_frame(const FrameHead& head, const Systems& systems, const Thinning& thinning,
                         float drift) {
  const std::vector<int>& bodies = thinning.bodies();
  const std::size_t shown = bodies.size() * static_cast<std::size_t>(systems.count);
  const bool few = systems.bodies.size() <= kFewBodies;
  const std::size_t header = kFrameHeaderBytes + (few ? 3 * sizeof(float) * shown : 0);
  std::string bytes(header + kBytesPerShownBody * shown, '\0');
  write_head(Writer(bytes.data()), head, header, shown);
  if (few) write_velocities(Writer(bytes.data() + kFrameHeaderBytes), systems);

    // The loop reads every cache line of the bodies. For a million bodies, one thread would need
    // milliseconds.
#pragma omp parallel for if (shown > 50'000)
  for (std::size_t k = 0; k < shown; ++k) {
    const int system = static_cast<int>(k / bodies.size());
    const auto body = static_cast<std::size_t>(bodies[k % bodies.size()]);
    Writer(bytes.data() + header + kBytesPerShownBody * k)
        .write(shown_body(systems.system(system)[body], drift));
  }
  return bytes;
}

}  // namespace nbody::view
