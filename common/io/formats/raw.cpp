// The raw format: files without a header that hold x, y, z, vx, vy, vz of each body as
// little-endian float32. All masses are 1.
#include <ostream>

#include "io/formats/byte_order.h"
#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

constexpr std::size_t kBytesPerBody = 6 * sizeof(float);

// Any bytes can be a raw file, so this format is the last in the table.
bool is_raw(std::string_view) { return true; }

void check_raw_size(const std::string& file, std::string_view, std::uint64_t size) {
  if (size == 0 || size % kBytesPerBody != 0)
    throw UsageError(file, ": ", listed(basic_formats(), &FileFormat::unlike), " and not raw (",
                     size, " bytes are not a multiple of 24, the size of a body)");
  divide(file, size / kBytesPerBody, {}, {});
}

Contents read_raw(const std::string& file, std::string_view bytes, const ReadOptions&) {
  check_raw_size(file, bytes, bytes.size());
  Contents contents;
  contents.snapshot.format = "raw";
  contents.bodies.resize(bytes.size() / kBytesPerBody);
  for (std::size_t i = 0; i < contents.bodies.size(); ++i) {
    const auto field = [&](std::size_t k) {
      return byte_order::load<float>(bytes, i * kBytesPerBody + k * sizeof(float));
    };
    const Body body{field(0), field(1), field(2), field(3), field(4), field(5), 1.0f};
    check_body(file, i, body);
    contents.bodies[i] = body;
  }
  return contents;
}

void check_unit_masses(const std::string& file, const Snapshot& snapshot) {
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i)
    if (snapshot.systems.bodies[i].mass != 1.0f)
      throw UsageError(file, ": body ", i, " has mass ", shortest(snapshot.systems.bodies[i].mass),
                       "; a raw file holds no masses (all are 1): write .bin or .csv");
}

void write_raw(std::ostream& out, const std::string&, const Snapshot& snapshot) {
  for (int s = 0; s < snapshot.systems.count; ++s) {
    std::string bytes;
    for (const Body& body : snapshot.systems.system(s))
      for (const float value : {body.x, body.y, body.z, body.vx, body.vy, body.vz})
        byte_order::append(bytes, value);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace

const FileFormat kRaw{.name = "raw",
                      .title = "raw",
                      .ending = ".raw",
                      .recognise = is_raw,
                      .check_head = check_raw_size,
                      .read = read_raw,
                      .check = check_unit_masses,
                      .write = write_raw,
                      .keeps = {.order = true}};

}  // namespace nbody::formats
