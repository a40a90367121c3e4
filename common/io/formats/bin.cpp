// The project's own binary format: a header, then x, y, z, vx, vy, vz, mass of every body as
// float32 or float64; then, if the file has them, the species of every body, one byte each, with
// Gadget's numbers (io/species.h). A checkpoint ends with `key=value` lines and a checksum.
// Everything is little-endian.
//
//   offset  type      field
//        0  char[8]   magic "NBODYBIN"
//        8  u32       version: 1, 2 with species, 3 for checkpoints
//       12  u32       endian tag, 0x01020304
//       16  u32       bytes of a float, 4 or 8
//       20  u32       bytes of the header, 144 or, in version 3, 160
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
//   only in version 3:
//      144  u32       1 if there are species, otherwise 0
//      148  u32       0
//      152  u64       bytes of the lines key=value
//   and at the end of the file
//           u32       CRC-32 (zlib's) of all bytes before it
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include "io/formats/byte_order.h"
#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/crc32.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

constexpr std::string_view kMagic = "NBODYBIN";
constexpr std::uint32_t kPlain = 1, kWithSpecies = 2, kCheckpoint = 3;  // versions
constexpr std::uint32_t kEndianTag = 0x01020304;
constexpr std::uint32_t kSwappedEndianTag = 0x04030201;
constexpr std::uint32_t kHeaderBytes = 144, kCheckpointHeaderBytes = 160, kChecksumBytes = 4;
constexpr std::size_t kTextField = 32;
constexpr std::uint64_t kValuesPerBody = 7;
constexpr std::size_t kBodiesAtOnce = 1024;
static_assert(kMaxTextBytes < kTextField, "a text in the header ends in a zero");

void require(const std::string& file, const char* field, std::uint32_t value, std::uint32_t known) {
  if (value != known)
    throw UsageError(file, ": ", field, " ", value, " is unknown; only ", known, " can be read");
}

double finite(const std::string& file, const char* field, double value) {
  if (!std::isfinite(value))
    throw UsageError(file, ": ", field, " in the header is not a finite number");
  return value;
}

std::string text(const std::string& file, const char* field, std::string_view bytes) {
  std::string value(bytes.substr(0, bytes.find('\0')));
  check_text(file, field, value);
  return value;
}

std::uint32_t version_of(const std::string& file, std::string_view head) {
  const auto version = byte_order::load<std::uint32_t>(head, 8);
  if (version < kPlain || version > kCheckpoint)
    throw UsageError(file, ": version ", version, " is unknown; only 1, 2 and 3 can be read");
  return version;
}

// Returns a Snapshot with everything except the bodies; its systems are still empty.
Snapshot header(const std::string& file, std::string_view bytes) {
  using byte_order::load;
  Snapshot snapshot;
  snapshot.time = finite(file, "time", load<double>(bytes, 32));
  snapshot.step = load<std::int64_t>(bytes, 40);
  if (snapshot.step < 0) throw UsageError(file, ": step ", snapshot.step, " is negative");
  if (load<double>(bytes, 48) != 1.0)
    throw UsageError(file, ": G is ", shortest(load<double>(bytes, 48)),
                     "; only units where G = 1 can be read");
  snapshot.softening = finite(file, "softening", load<double>(bytes, 56));
  if (snapshot.softening < 0) throw UsageError(file, ": the softening is negative");
  snapshot.dt = finite(file, "dt", load<double>(bytes, 64));
  const auto integrator = load<std::uint32_t>(bytes, 72);
  if (integrator > 1)
    throw UsageError(file, ": integrator ", integrator,
                     " is unknown; only 0 (Euler) and 1 (leapfrog) can be read");
  snapshot.integrator = integrator == 0 ? Integrator::euler : Integrator::leapfrog;
  const auto staggered = load<std::uint32_t>(bytes, 76);
  if (staggered > 1) throw UsageError(file, ": staggered is ", staggered, "; it must be 0 or 1");
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

bool is_bin(std::string_view head) { return head.starts_with(kMagic); }

// Offsets of the parts of a file that has `size` bytes and begins with `head`.
struct Layout {
  std::uint64_t header_bytes, systems, bodies, float_bytes;
  bool species, checkpoint;
  std::uint64_t text_bytes = 0;

  std::uint64_t species_offset() const {
    return header_bytes + systems * bodies * kValuesPerBody * float_bytes;
  }
  std::uint64_t text_offset() const { return species_offset() + (species ? systems * bodies : 0); }
  std::uint64_t size() const {
    return text_offset() + (checkpoint ? text_bytes + kChecksumBytes : 0);
  }
};

// Throws unless the header is valid and describes a file of exactly `size` bytes.
Layout layout_of(const std::string& file, std::string_view head, std::uint64_t size) {
  using byte_order::load;
  const auto require_header = [&](std::uint32_t bytes) {
    if (head.size() < bytes)
      throw UsageError(file, ": ", head.size(), " bytes; the header alone takes ", bytes);
  };
  require_header(kHeaderBytes);
  // Checks the tag first, because in the wrong byte order every other number is wrong too.
  const auto tag = load<std::uint32_t>(head, 12);
  if (tag == kSwappedEndianTag)
    throw UsageError(file, ": big-endian; only little-endian files can be read");
  require(file, "endian tag", tag, kEndianTag);
  const auto version = version_of(file, head);
  Layout layout{.header_bytes = version == kCheckpoint ? kCheckpointHeaderBytes : kHeaderBytes,
                .systems = load<std::uint32_t>(head, 24),
                .bodies = load<std::uint32_t>(head, 28),
                .float_bytes = load<std::uint32_t>(head, 16),
                .species = version == kWithSpecies,
                .checkpoint = version == kCheckpoint};
  if (layout.float_bytes != sizeof(float) && layout.float_bytes != sizeof(double))
    throw UsageError(file, ": float size ", layout.float_bytes,
                     " is unknown; only 4 and 8 can be read");
  require(file, "header size", load<std::uint32_t>(head, 20),
          static_cast<std::uint32_t>(layout.header_bytes));
  if (layout.checkpoint) {
    require_header(kCheckpointHeaderBytes);
    const auto species = load<std::uint32_t>(head, 144);
    if (species > 1 || load<std::uint32_t>(head, 148) != 0)
      throw UsageError(file, ": bytes 144 to 151 of its header are not those of a checkpoint");
    layout.species = species == 1;
    layout.text_bytes = std::min(load<std::uint64_t>(head, 152), size);  // avoids overflow in sums
  }

  const std::string claim = joined(layout.systems, " systems of ", layout.bodies, " bodies");
  if (layout.systems == 0 || layout.bodies == 0)
    throw UsageError(file, ": its header describes ", claim);
  // The product of two 32-bit counts fits in 64 bits. A product below 2^31 still fits in 64 bits
  // after it is multiplied by 57, the largest number of bytes per body.
  if (layout.systems * layout.bodies > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw UsageError(file, ": its header describes ", claim,
                     "; at most 2147483647 bodies are possible");
  if (size != layout.size())
    throw UsageError(file, ": ", size, " bytes, but its header describes ", claim, ", which take ",
                     layout.size());
  header(file, head);
  return layout;
}

void check_bin_header(const std::string& file, std::string_view head, std::uint64_t size) {
  layout_of(file, head, size);
}

void check_values(const std::string& file, const Contents& contents) {
  for (std::size_t i = 0; i < contents.bodies.size(); ++i) check_body(file, i, contents.bodies[i]);
  // In float32, a tiny negative mass becomes a zero.
  for (std::size_t i = 0; i < contents.exact.size(); ++i) check_body(file, i, contents.exact[i]);
  for (std::size_t i = 0; i < contents.species.size(); ++i)
    if (const auto species = static_cast<std::size_t>(contents.species[i]);
        species >= kSpeciesNames.size())
      throw UsageError(file, ": body ", i, ": species is ", species, "; it must be 0 to 5");
}

// Reads the bodies of all systems and, if `float64` is set, their digits beyond float32.
void load_bodies(const Layout& layout, const NextBytes& next, bool float64, Contents& contents) {
  const bool wide = layout.float_bytes == sizeof(double);
  const std::size_t body_bytes = kValuesPerBody * layout.float_bytes;
  contents.bodies.resize(layout.systems * layout.bodies);
  if (wide && float64) contents.exact.reserve(contents.bodies.size());
  for (std::size_t first = 0; first < contents.bodies.size(); first += kBodiesAtOnce) {
    const std::size_t count = std::min(kBodiesAtOnce, contents.bodies.size() - first);
    const std::string_view piece = next(count * body_bytes);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view fields = piece.substr(i * body_bytes, body_bytes);
      const BodyF64 exact = wide ? load_body<double>(fields) : load_body<float>(fields);
      contents.bodies[first + i] = rounded(exact);
      if (wide && float64) contents.exact.push_back(exact);
    }
  }
}

Contents read_bin_in_pieces(const std::string& file, std::uint64_t size, const NextBytes& next,
                            const ReadOptions& options) {
  std::string head(next(std::min<std::uint64_t>(size, kHeaderBytes)));
  if (head.size() == kHeaderBytes && byte_order::load<std::uint32_t>(head, 8) == kCheckpoint)
    head += next(std::min<std::uint64_t>(size, kCheckpointHeaderBytes) - kHeaderBytes);
  const Layout layout = layout_of(file, head, size);
  Crc32 checksum;
  checksum.add(head);
  const auto take = [&](std::uint64_t bytes) {
    const std::string_view piece = next(bytes);
    if (layout.checkpoint) checksum.add(piece);
    return piece;
  };
  Contents contents;
  contents.snapshot = header(file, head);
  contents.systems = static_cast<int>(layout.systems);
  contents.snapshot.format = layout.float_bytes == sizeof(double) ? "BIN, float64" : "BIN";
  load_bodies(layout, take, options.float64, contents);
  for (std::size_t i = 0; layout.species && i < contents.bodies.size(); ++i)
    contents.species.push_back(static_cast<Species>(static_cast<unsigned char>(take(1)[0])));
  const std::string text(take(layout.text_bytes));
  // If the file is damaged, no other error is worth reporting.
  if (const auto computed = checksum.value();
      layout.checkpoint && computed != byte_order::load<std::uint32_t>(next(kChecksumBytes), 0))
    throw UsageError(file, ": damaged: its checksum does not match its content");
  check_values(file, contents);
  if (layout.checkpoint) contents.snapshot.checkpoint = parse_checkpoint(file, text);
  return contents;
}

Contents read_bin(const std::string& file, std::string_view bytes, const ReadOptions& options) {
  std::size_t end = 0;
  return read_bin_in_pieces(
      file, bytes.size(),
      [&](std::size_t count) { return bytes.substr(std::exchange(end, end + count), count); },
      options);
}

void check_bin(const std::string& file, const Snapshot& snapshot) {
  check_text(file, "scenario", snapshot.scenario);
  check_text(file, "units", snapshot.units);
}

// Writes in chunks, so that only a small part of the file's bytes is in memory at a time.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}
  template <class Value>
  void add(Value value) {
    byte_order::append(bytes_, value);
  }
  void add_text(std::string_view text) { bytes_ += text; }
  void flush() {
    checksum_.add(bytes_);
    out_.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    bytes_.clear();
  }
  void flush_when_large() {
    if (bytes_.size() > 1 << 20) flush();
  }
  std::uint32_t checksum() const { return checksum_.value(); }

 private:
  std::ostream& out_;
  std::string bytes_;
  Crc32 checksum_;
};

void write_header(Writer& writer, const Snapshot& snapshot, std::uint64_t text_bytes) {
  const bool checkpoint = !snapshot.checkpoint.empty(), species = !snapshot.species.empty();
  writer.add_text(kMagic);
  writer.add(checkpoint ? kCheckpoint : species ? kWithSpecies : kPlain);
  writer.add(kEndianTag);
  writer.add(static_cast<std::uint32_t>(snapshot.exact.empty() ? sizeof(float) : sizeof(double)));
  writer.add(checkpoint ? kCheckpointHeaderBytes : kHeaderBytes);
  writer.add(static_cast<std::uint32_t>(snapshot.systems.count));
  writer.add(static_cast<std::uint32_t>(snapshot.systems.bodies_per_system));
  writer.add(snapshot.time);
  writer.add(static_cast<std::int64_t>(snapshot.step));
  writer.add(1.0);  // G
  writer.add(snapshot.softening);
  writer.add(snapshot.dt);
  writer.add(std::uint32_t{snapshot.integrator == Integrator::leapfrog});
  writer.add(std::uint32_t{snapshot.staggered});
  for (const std::string& text : {snapshot.scenario, snapshot.units})
    writer.add_text(text + std::string(kTextField - text.size(), '\0'));
  if (!checkpoint) return;
  writer.add(std::uint32_t{species});
  writer.add(std::uint32_t{0});
  writer.add(text_bytes);
}

template <typename AnyBody>
void write_values(Writer& writer, const std::vector<AnyBody>& bodies) {
  for (const AnyBody& body : bodies) {
    for (const auto value : {body.x, body.y, body.z, body.vx, body.vy, body.vz, body.mass})
      writer.add(value);
    writer.flush_when_large();
  }
}

void write_bin(std::ostream& out, const std::string&, const Snapshot& snapshot) {
  const std::string text = checkpoint_text(snapshot.checkpoint);
  Writer writer(out);
  write_header(writer, snapshot, text.size());
  if (snapshot.exact.empty())
    write_values(writer, snapshot.systems.bodies);
  else
    write_values(writer, snapshot.exact);
  for (const Species species : snapshot.species)
    writer.add_text(std::string(1, static_cast<char>(species)));
  writer.add_text(text);
  writer.flush();
  if (snapshot.checkpoint.empty()) return;
  writer.add(writer.checksum());
  writer.flush();
}

}  // namespace

const FileFormat kBin{.name = "bin",
                      .title = "BIN",
                      .ending = ".bin",
                      .unlike = "not BIN (it does not begin with NBODYBIN)",
                      .recognise = is_bin,
                      .check_head = check_bin_header,
                      .read = read_bin,
                      .read_in_pieces = read_bin_in_pieces,
                      .check = check_bin,
                      .write = write_bin,
                      .keeps = everything_but(&Keeps::names)};

}  // namespace nbody::formats
