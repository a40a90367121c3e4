// The project's own binary format: a header of 144 bytes, then x, y, z, vx, vy, vz, mass of every
// body as float32 or float64; in version 2 then the species of every body, one byte each, with
// Gadget's numbers (nbody/species.h). Everything is little-endian.
//
//   offset  type      field
//        0  char[8]   magic "NBODYBIN"
//        8  u32       version: 1, or 2 with species
//       12  u32       endian tag, 0x01020304
//       16  u32       bytes of a float, 4 or 8
//       20  u32       bytes of the header, 144
//       24  u32       systems
//       28  u32       bodies per system
//       32  f64       time
//       40  i64       step
//       48  f64       G, 1
//       56  f64       softening
//       64  f64       dt
//       72  u32       integrator: 0 Euler, 1 leapfrog
//       76  u32       staggered: 0 or 1
//       80  char[32]  scenario, padded with zeros
//      112  char[32]  units, padded with zeros
#include <cmath>
#include <limits>
#include <ostream>

#include "io/formats/byte_order.h"
#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

constexpr std::string_view kMagic = "NBODYBIN";
constexpr std::uint32_t kPlain = 1, kWithSpecies = 2;  // versions
constexpr std::uint32_t kEndianTag = 0x01020304;
constexpr std::uint32_t kSwappedEndianTag = 0x04030201;
constexpr std::uint32_t kHeaderBytes = 144;
constexpr std::size_t kTextField = 32;
constexpr std::uint64_t kValuesPerBody = 7;
static_assert(kMaxTextBytes < kTextField, "a text in the header ends in a zero");

void require(const std::string& file, const char* field, std::uint32_t value, std::uint32_t known) {
  if (value != known)
    throw UsageError(file + ": " + field + " " + std::to_string(value) + " is unknown; only " +
                     std::to_string(known) + " can be read");
}

double finite(const std::string& file, const char* field, double value) {
  if (!std::isfinite(value))
    throw UsageError(file + ": " + field + " in the header is not a finite number");
  return value;
}

std::string text(const std::string& file, const char* field, std::string_view bytes) {
  const std::string value(bytes.substr(0, bytes.find('\0')));
  check_text(file, field, value);
  return value;
}

std::uint32_t version_of(const std::string& file, std::string_view head) {
  const auto version = byte_order::load<std::uint32_t>(head, 8);
  if (version != kPlain && version != kWithSpecies)
    throw UsageError(file + ": version " + std::to_string(version) +
                     " is unknown; only 1 and 2 can be read");
  return version;
}

// Everything a Snapshot knows except the bodies: the systems are still empty.
Snapshot header(const std::string& file, std::string_view bytes) {
  using byte_order::load;
  Snapshot snapshot;
  snapshot.time = finite(file, "time", load<double>(bytes, 32));
  snapshot.step = load<std::int64_t>(bytes, 40);
  if (snapshot.step < 0)
    throw UsageError(file + ": step " + std::to_string(snapshot.step) + " is negative");
  if (load<double>(bytes, 48) != 1.0)
    throw UsageError(file + ": G is " + shortest(load<double>(bytes, 48)) +
                     "; only units where G = 1 can be read");
  snapshot.softening = finite(file, "softening", load<double>(bytes, 56));
  if (snapshot.softening < 0) throw UsageError(file + ": the softening is negative");
  snapshot.dt = finite(file, "dt", load<double>(bytes, 64));
  const auto integrator = load<std::uint32_t>(bytes, 72);
  if (integrator > 1)
    throw UsageError(file + ": integrator " + std::to_string(integrator) +
                     " is unknown; only 0 (Euler) and 1 (leapfrog) can be read");
  snapshot.integrator = integrator == 0 ? Integrator::euler : Integrator::leapfrog;
  const auto staggered = load<std::uint32_t>(bytes, 76);
  if (staggered > 1)
    throw UsageError(file + ": staggered is " + std::to_string(staggered) + "; it must be 0 or 1");
  snapshot.staggered = staggered == 1;
  snapshot.scenario = text(file, "scenario", bytes.substr(80, kTextField));
  snapshot.units = text(file, "units", bytes.substr(112, kTextField));
  return snapshot;
}

template <typename Real>
BodyF64 load_body(std::string_view fields) {
  const auto field = [&](std::size_t k) {
    return byte_order::load<Real>(fields, k * sizeof(Real));
  };
  return {field(0), field(1), field(2), field(3), field(4), field(5), field(6)};
}

template <typename AnyBody>
void append_bytes(std::string& bytes, const AnyBody& body) {
  for (const auto value : {body.x, body.y, body.z, body.vx, body.vy, body.vz, body.mass})
    byte_order::append(bytes, value);
}

bool is_bin(std::string_view head) { return head.starts_with(kMagic); }

void check_bin_header(const std::string& file, std::string_view head, std::uint64_t size) {
  using byte_order::load;
  if (head.size() < kHeaderBytes)
    throw UsageError(file + ": " + std::to_string(head.size()) + " bytes; the header alone takes " +
                     std::to_string(kHeaderBytes));
  // The tag first: if the byte order is wrong, every other number is.
  const auto tag = load<std::uint32_t>(head, 12);
  if (tag == kSwappedEndianTag)
    throw UsageError(file + ": big-endian; only little-endian files can be read");
  require(file, "endian tag", tag, kEndianTag);
  const std::uint64_t species_bytes = version_of(file, head) == kWithSpecies;  // per body
  const std::uint64_t float_bytes = load<std::uint32_t>(head, 16);
  if (float_bytes != sizeof(float) && float_bytes != sizeof(double))
    throw UsageError(file + ": float size " + std::to_string(float_bytes) +
                     " is unknown; only 4 and 8 can be read");
  require(file, "header size", load<std::uint32_t>(head, 20), kHeaderBytes);

  const std::uint64_t systems = load<std::uint32_t>(head, 24);
  const std::uint64_t bodies = load<std::uint32_t>(head, 28);
  const std::string claim =
      std::to_string(systems) + " systems of " + std::to_string(bodies) + " bodies";
  if (systems == 0 || bodies == 0) throw UsageError(file + ": its header describes " + claim);
  // Two 32-bit counts: their product fits 64 bits, and times 57 as well once it is below 2^31.
  if (systems * bodies > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw UsageError(file + ": its header describes " + claim +
                     "; at most 2147483647 bodies are possible");
  const std::uint64_t expected =
      kHeaderBytes + systems * bodies * (kValuesPerBody * float_bytes + species_bytes);
  if (size != expected)
    throw UsageError(file + ": " + std::to_string(size) + " bytes, but its header describes " +
                     claim + ", which take " + std::to_string(expected));
  header(file, head);
}

Contents read_bin(const std::string& file, std::string_view bytes, bool float64) {
  check_bin_header(file, bytes, bytes.size());
  Contents contents;
  contents.snapshot = header(file, bytes);
  contents.systems = static_cast<int>(byte_order::load<std::uint32_t>(bytes, 24));
  const bool wide = byte_order::load<std::uint32_t>(bytes, 16) == sizeof(double);
  contents.snapshot.format = wide ? "BIN, float64" : "BIN";
  const std::size_t body_bytes = kValuesPerBody * (wide ? sizeof(double) : sizeof(float));
  contents.bodies.resize(static_cast<std::size_t>(*contents.systems) *
                         byte_order::load<std::uint32_t>(bytes, 28));
  std::size_t offset = kHeaderBytes;
  for (std::size_t i = 0; i < contents.bodies.size(); ++i, offset += body_bytes) {
    const std::string_view fields = bytes.substr(offset, body_bytes);
    const BodyF64 exact = wide ? load_body<double>(fields) : load_body<float>(fields);
    contents.bodies[i] = rounded(exact);
    check_body(file, i, contents.bodies[i]);
    if (float64) contents.exact.push_back(exact);
  }
  for (; offset < bytes.size(); ++offset) {
    const auto species = static_cast<unsigned char>(bytes[offset]);
    if (species >= kSpeciesNames.size())
      throw UsageError(file + ": body " + std::to_string(contents.species.size()) +
                       ": species is " + std::to_string(species) + "; it must be 0 to 5");
    contents.species.push_back(static_cast<Species>(species));
  }
  return contents;
}

void check_bin(const std::string& file, const Snapshot& snapshot) {
  check_text(file, "scenario", snapshot.scenario);
  check_text(file, "units", snapshot.units);
}

void write_bin(std::ostream& out, const std::string&, const Snapshot& snapshot) {
  using byte_order::append;
  std::string bytes(kMagic);
  append(bytes, snapshot.species.empty() ? kPlain : kWithSpecies);
  append(bytes, kEndianTag);
  append(bytes,
         static_cast<std::uint32_t>(snapshot.exact.empty() ? sizeof(float) : sizeof(double)));
  append(bytes, kHeaderBytes);
  append(bytes, static_cast<std::uint32_t>(snapshot.systems.count));
  append(bytes, static_cast<std::uint32_t>(snapshot.systems.bodies_per_system));
  append(bytes, snapshot.time);
  append(bytes, static_cast<std::int64_t>(snapshot.step));
  append(bytes, 1.0);  // G
  append(bytes, snapshot.softening);
  append(bytes, snapshot.dt);
  append(bytes, std::uint32_t{snapshot.integrator == Integrator::leapfrog});
  append(bytes, std::uint32_t{snapshot.staggered});
  for (const std::string& text : {snapshot.scenario, snapshot.units})
    bytes += text + std::string(kTextField - text.size(), '\0');

  // In pieces, so that the copy in memory stays small.
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i) {
    if (bytes.size() > 1 << 20) {
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      bytes.clear();
    }
    if (snapshot.exact.empty())
      append_bytes(bytes, snapshot.systems.bodies[i]);
    else
      append_bytes(bytes, snapshot.exact[i]);
  }
  for (const Species species : snapshot.species) bytes += static_cast<char>(species);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

const FileFormat kBin{.name = "bin",
                      .title = "BIN",
                      .ending = ".bin",
                      .unlike = "not BIN (it does not begin with NBODYBIN)",
                      .recognise = is_bin,
                      .check_head = check_bin_header,
                      .read = read_bin,
                      .check = check_bin,
                      .write = write_bin,
                      .keeps = {.float64 = true,
                                .species = true,
                                .all_species = true,
                                .order = true,
                                .systems = true,
                                .run = true,
                                .times = true,
                                .units = true}};

}  // namespace nbody::formats
