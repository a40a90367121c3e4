// Headerless files: x, y, z, vx, vy, vz of each body as little-endian float32, unit masses.
#include <ostream>

#include "formats.h"
#include "little_endian.h"
#include "nbody/error.h"

namespace nbody::formats {

namespace {

constexpr std::size_t kBytesPerBody = 6 * sizeof(float);

}  // namespace

void check_raw_size(const std::string& file, std::uint64_t size) {
  if (size == 0 || size % kBytesPerBody != 0)
    throw UsageError(
        file + ": not BIN (it does not begin with NBODYBIN), not CSV (it is not text)" +
        " and not raw (" + std::to_string(size) + " bytes are not a multiple of the 24 of a body)");
  shape_of(file, size / kBytesPerBody, {}, {});
}

Snapshot read_raw(const std::string& file, std::string_view bytes, const ReadOptions& options) {
  check_raw_size(file, bytes.size());
  const std::size_t total = bytes.size() / kBytesPerBody;
  const Shape shape = shape_of(file, total, {}, options);
  Snapshot snapshot;
  snapshot.systems = Systems(shape.systems, shape.bodies);
  for (std::size_t i = 0; i < total; ++i) {
    const auto field = [&](std::size_t k) {
      return little_endian::load<float>(bytes, i * kBytesPerBody + k * sizeof(float));
    };
    const Body body{field(0), field(1), field(2), field(3), field(4), field(5), 1.0f};
    check_body(file, i, body);
    snapshot.systems.bodies[i] = body;
  }
  return snapshot;
}

void write_raw(std::ostream& out, const std::string& file, const Snapshot& snapshot) {
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i)
    if (snapshot.systems.bodies[i].mass != 1.0f)
      throw UsageError(file + ": body " + std::to_string(i) + " has mass " +
                       digits(snapshot.systems.bodies[i].mass) +
                       "; a raw file holds no masses (all are 1): write .bin or .csv");
  for (int s = 0; s < snapshot.systems.count; ++s) {
    std::string bytes;
    for (const Body& body : snapshot.systems.system(s))
      for (const float value : {body.x, body.y, body.z, body.vx, body.vy, body.vz})
        little_endian::append(bytes, value);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace nbody::formats
