// Tipsy files (T. Quinn, TIPSY, tipsydefs.h), of either byte order.
//
// Header: f64 time; i32 nbodies, ndim, nsph, ndark, nstar, and in most files a pad of 4 bytes. Then
// all gas, all dark, all star bodies, in float32:
//
//   gas   48 bytes  m, x[3], v[3], rho, temp, hsmooth, metals, phi
//   dark  36 bytes  m, x[3], v[3], eps, phi
//   star  44 bytes  m, x[3], v[3], metals, tform, eps, phi
//
// "Standard" files are big-endian; "native" files have the byte order of the machine that wrote
// them. The reader accepts headers of 28 and of 32 bytes. The writer's headers have 32 bytes,
// because a widely used reader expects 32 bytes even if the header has only 28. The units are in a
// second file (tipsy_param.cpp).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>

#include "io/formats/byte_order.h"
#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

constexpr std::size_t kTime = 0, kBodies = 8, kDimensions = 12, kCounts = 16;  // offsets
constexpr std::size_t kShortHeader = 28, kHeader = 32;                         // bytes

struct Record {
  Species species;
  std::size_t floats;
  std::optional<std::size_t> eps;  // index of the softening length among these floats
};
constexpr std::array<Record, 3> kRecords{
    {{Species::gas, 12, std::nullopt}, {Species::dark, 9, 7}, {Species::star, 11, 9}}};

// Tipsy lacks Gadget's other species, so anything that is neither gas nor dark matter becomes a
// star.
constexpr Species tipsy_species(Species species) {
  return species == Species::gas || species == Species::dark ? species : Species::star;
}

const char* name_of(std::endian order) {
  return order == std::endian::big ? "big-endian" : "little-endian";
}

// Finds the byte order from the number of dimensions: 1, 2 or 3 becomes a huge number if it is read
// in the wrong byte order.
std::optional<std::endian> order_of(std::string_view head) {
  if (head.size() < kDimensions + sizeof(std::int32_t)) return std::nullopt;
  for (const std::endian order : {std::endian::big, std::endian::little}) {
    const auto dimensions = byte_order::load<std::int32_t>(head, kDimensions, order);
    if (dimensions >= 1 && dimensions <= 3) return order;
  }
  return std::nullopt;
}

struct Header {
  std::endian order;
  std::size_t bytes;
  double time;
  std::array<std::int32_t, 3> counts;  // gas, dark, star
};

// Reads the header of a file of `size` bytes. Throws unless the header is consistent.
Header header_of(const std::string& file, std::string_view head, std::uint64_t size) {
  const auto order = order_of(head);
  if (!order)
    throw UsageError(file,
                     ": not Tipsy: its number of dimensions is not 1, 2 or 3 in either "
                     "byte order");
  const std::string what = file + ": Tipsy, " + name_of(*order) + ": ";
  if (head.size() < kShortHeader)
    throw UsageError(what, head.size(), " bytes; the header alone takes 28 or 32");
  Header header{*order, 0, byte_order::load<double>(head, kTime, *order), {}};
  const std::int64_t bodies = byte_order::load<std::int32_t>(head, kBodies, *order);
  std::int64_t sum = 0;
  std::uint64_t expected = 0;
  for (std::size_t k = 0; k < kRecords.size(); ++k) {
    header.counts[k] = byte_order::load<std::int32_t>(head, kCounts + 4 * k, *order);
    if (header.counts[k] < 0)
      throw UsageError(what, "its header counts ", header.counts[k], " ",
                       to_string(kRecords[k].species), " bodies");
    sum += header.counts[k];
    expected += static_cast<std::uint64_t>(header.counts[k]) * kRecords[k].floats * sizeof(float);
  }
  const std::string claim = joined(header.counts[0], " gas, ", header.counts[1], " dark and ",
                                   header.counts[2], " star bodies");
  if (bodies != sum) throw UsageError(what, "its header counts ", bodies, " bodies, but ", claim);
  if (bodies == 0) throw UsageError(file, " holds no bodies");
  if (!std::isfinite(header.time))
    throw UsageError(what, "time in the header is not a finite number");
  const std::uint64_t double_positions = static_cast<std::uint64_t>(bodies) * 3 * sizeof(float);
  if (size == expected + kShortHeader)
    header.bytes = kShortHeader;
  else if (size == expected + kHeader)
    header.bytes = kHeader;
  else if (size == expected + double_positions + kShortHeader ||
           size == expected + double_positions + kHeader)
    throw UsageError(what, "its positions are float64; only files of float32 can be read");
  else
    throw UsageError(what, size, " bytes, but its header describes ", claim, ", which take ",
                     expected + kShortHeader, " or ", expected + kHeader);
  return header;
}

bool is_tipsy(std::string_view head) { return order_of(head).has_value(); }

void check_tipsy_header(const std::string& file, std::string_view head, std::uint64_t size) {
  header_of(file, head, size);
}

Contents read_tipsy(const std::string& file, std::string_view bytes, const ReadOptions&) {
  const Header header = header_of(file, bytes, bytes.size());
  Contents contents;
  contents.snapshot.time = header.time;
  contents.snapshot.format =
      joined("Tipsy, ", name_of(header.order), ", header of ", header.bytes, " bytes");
  contents.snapshot.left_out = "rho, temp, hsmooth, metals, tform, phi";
  float least_eps = std::numeric_limits<float>::infinity(), most_eps = 0;
  std::size_t offset = header.bytes;
  for (std::size_t k = 0; k < kRecords.size(); ++k) {
    for (std::int32_t i = 0; i < header.counts[k]; ++i) {
      const auto field = [&](std::size_t n) {
        return byte_order::load<float>(bytes, offset + n * sizeof(float), header.order);
      };
      const Body body{field(1), field(2), field(3), field(4), field(5), field(6), field(0)};
      check_body(file, contents.bodies.size(), body);
      if (kRecords[k].eps) {
        const float eps = field(*kRecords[k].eps);
        if (!std::isfinite(eps) || eps < 0)
          throw UsageError(file, ": body ", contents.bodies.size(), ": eps is ", shortest(eps),
                           "; a softening length must be finite and not negative");
        least_eps = std::min(least_eps, eps);
        most_eps = std::max(most_eps, eps);
      }
      contents.bodies.push_back(body);
      contents.species.push_back(kRecords[k].species);
      offset += kRecords[k].floats * sizeof(float);
    }
  }
  // Tipsy stores a softening per body. The snapshot gets a softening only if all dark and star
  // bodies have the same softening.
  if (least_eps == most_eps) contents.snapshot.softening = static_cast<double>(most_eps);
  read_tipsy_param(file, contents.snapshot);
  return contents;
}

// Returns false for a pipe, which has no .param file next to it.
bool has_param(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

std::filesystem::path param_to_write(const std::filesystem::path& file) {
  return has_param(file) ? tipsy_param_of(file) : std::filesystem::path();
}

void check_tipsy(const std::string& file, const Snapshot& snapshot) {
  if (has_param(file)) check_tipsy_param(file, snapshot);
}

template <std::endian order>
void write_tipsy(std::ostream& out, const std::string&, const Snapshot& snapshot) {
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

constexpr std::string_view kSoftening =
    "the softening here is Plummer's; in codes that use Tipsy files it is usually a spline's, "
    "whose force is Newtonian beyond two softening lengths (docs/formats.md)";
constexpr Keeps kKept{.species = true, .times = true, .units = true};

}  // namespace

const FileFormat kTipsy{.name = "tipsy",
                        .title = "Tipsy, big-endian",
                        .ending = ".tipsy",
                        .softening = kSoftening,
                        .unlike = "not Tipsy (bytes 12 to 15 are not 1, 2 or 3)",
                        .recognise = is_tipsy,
                        .check_head = check_tipsy_header,
                        .read = read_tipsy,
                        .check = check_tipsy,
                        .write = write_tipsy<std::endian::big>,
                        .second_file = param_to_write,
                        .write_second = write_tipsy_param,
                        .needs_species = true,
                        .keeps = kKept};

const FileFormat kTipsyLittle{.name = "tipsy-little",
                              .title = "Tipsy, little-endian",
                              .ending = "",
                              .softening = kSoftening,
                              .check = check_tipsy,
                              .write = write_tipsy<std::endian::little>,
                              .second_file = param_to_write,
                              .write_second = write_tipsy_param,
                              .needs_species = true,
                              .keeps = kKept};

}  // namespace nbody::formats
