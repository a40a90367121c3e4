// Writes Tipsy files (layout: tipsy.h), always with 32 bytes of header: a reader in wide use takes
// the 28-byte form for the other one.
#include <array>
#include <ostream>

#include "io/byte_order.h"
#include "io/formats.h"
#include "io/tipsy.h"
#include "nbody/error.h"

namespace nbody::formats {

void write_tipsy(std::ostream& out, const std::string& file, const Snapshot& snapshot,
                 std::endian order) {
  using namespace tipsy;
  if (snapshot.staggered)
    throw UsageError(file +
                     ": a checkpoint of a leapfrog run is half a step between two times, which a " +
                     "Tipsy file cannot say: write .bin or .csv");
  const auto& bodies = snapshot.systems.bodies;
  const auto species_of_body = [&](std::size_t i) {
    return tipsy_species(species_at(snapshot, i));
  };
  std::array<std::int32_t, kRecords.size()> counts{};
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (std::size_t k = 0; k < kRecords.size(); ++k)
      counts[k] += species_of_body(i) == kRecords[k].species;

  std::string bytes;
  const auto append = [&](auto value) { byte_order::append(bytes, value, order); };
  append(snapshot.time);
  append(static_cast<std::int32_t>(bodies.size()));
  append(std::int32_t{3});
  for (const std::int32_t count : counts) append(count);
  append(std::int32_t{0});

  const auto flush = [&] {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.clear();
  };
  for (const Record& record : kRecords) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (species_of_body(i) != record.species) continue;
      const Body& body = bodies[i];
      for (const float value : {body.mass, body.x, body.y, body.z, body.vx, body.vy, body.vz})
        append(value);
      for (std::size_t field = 7; field < record.floats; ++field)
        append(field == record.eps ? static_cast<float>(snapshot.softening) : 0.0f);
      if (bytes.size() > 1 << 20) flush();
    }
  }
  flush();
}

}  // namespace nbody::formats
