#include "frame.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace nbody::view {
namespace {

static_assert(std::endian::native == std::endian::little,
              "frames are copied as they lie in memory");

template <class Value>
void append(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_velocities(std::string& bytes, const Systems& systems) {
  for (const Body& body : systems.bodies)
    for (const float component : {body.vx, body.vy, body.vz}) append(bytes, component);
}

int shown_of_each(const Systems& systems, int every) {
  return (systems.bodies_per_system + every - 1) / every;
}

}  // namespace

int shown_every(const Systems& systems) {
  int every = 1;
  while (static_cast<long long>(shown_of_each(systems, every)) * systems.count > kMaxShownBodies &&
         every < systems.bodies_per_system) {
    ++every;
  }
  return every;
}

double interactions_per_second(std::string_view frame) {
  double rate = 0;
  if (frame.size() >= kFrameHeaderBytes) std::memcpy(&rate, frame.data() + 40, sizeof rate);
  return rate;
}

std::string encode_frame(const FrameHead& head, const Systems& systems) {
  const int every = shown_every(systems);
  const auto shown = static_cast<std::uint32_t>(shown_of_each(systems, every) * systems.count);
  const bool few = systems.bodies.size() <= kFewBodies;
  const std::size_t header = kFrameHeaderBytes + (few ? 3 * sizeof(float) * shown : 0);
  std::string bytes("NBVF");
  bytes.reserve(header + kBytesPerShownBody * shown);
  append(bytes, std::uint32_t{1});
  append(bytes, static_cast<std::uint32_t>(header));
  append(bytes, shown);
  append(bytes, head.step);
  append(bytes, head.time);
  append(bytes, head.steps_per_second);
  append(bytes, head.interactions_per_second);
  append(bytes, head.energy_error);
  append(bytes, head.number);
  if (few) append_velocities(bytes, systems);

  for (int s = 0; s < systems.count; ++s) {
    const auto bodies = systems.system(s);
    for (std::size_t i = 0; i < bodies.size(); i += static_cast<std::size_t>(every)) {
      const Body& body = bodies[i];
      const float speed = std::sqrt(body.vx * body.vx + body.vy * body.vy + body.vz * body.vz);
      const float shown_body[4] = {body.x, body.y, body.z, speed};
      append(bytes, shown_body);
    }
  }
  return bytes;
}

}  // namespace nbody::view
