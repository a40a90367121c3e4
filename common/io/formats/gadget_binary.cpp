// Gadget's binary snapshots, formats 1 and 2, of either byte order (Springel, users' guide of
// Gadget-2, section 6). Read only: nbody-convert writes format 3, which is HDF5.
//
// A file is a list of blocks. As in unformatted Fortran files, the size of a block (u32) is stored
// before and after it. In format 2, a small block before each block of data holds the name of the
// data ("POS ") and a u32. Format 1 has no names, but a fixed order: a header of 256 bytes,
// positions, velocities, ids, and the masses of those types whose mass is not in the header.
//
//   0 i32 bodies[6]   24 f64 mass[6]   72 f64 time   80 f64 redshift   124 i32 files   152 f64 h
//
// Before memory is allocated, the counts of bodies are checked against the sizes of the blocks.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "io/formats/byte_order.h"
#include "io/formats/formats.h"
#include "io/formats/gadget_bodies.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

constexpr std::uint32_t kGadgetHeaderBytes = 256, kBlockNameBytes = 8;
constexpr std::size_t kTypes = kSpeciesNames.size();

struct Kind {
  std::endian order;
  bool names;  // true in format 2: blocks have names
};

std::optional<Kind> kind_of(std::string_view head) {
  const auto is = [&](std::size_t offset, std::uint32_t value, std::endian order) {
    return head.size() >= offset + 4 &&
           byte_order::load<std::uint32_t>(head, offset, order) == value;
  };
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    // The size after the block rules out other files that begin with the number 256.
    if (is(0, kGadgetHeaderBytes, order) && is(kGadgetHeaderBytes + 4, kGadgetHeaderBytes, order))
      return Kind{order, false};
    if (is(0, kBlockNameBytes, order) && head.substr(4, 4) == "HEAD") return Kind{order, true};
  }
  return std::nullopt;
}

class GadgetReader {
 public:
  GadgetReader(const std::string& file, std::string_view bytes, bool float64)
      : file_(file), bytes_(bytes), float64_(float64) {
    const auto kind = kind_of(bytes);
    if (!kind) throw UsageError(file, ": not a Gadget snapshot: it has no header of 256 bytes");
    kind_ = *kind;
  }

  Contents read() {
    read_header();
    find_blocks();
    Contents contents;
    Snapshot& snapshot = contents.snapshot;
    snapshot.units = "kpc-100kms";
    GadgetBodies bodies(file_, units_, *units_of(snapshot.units), float64_);
    snapshot.time = bodies.time(time_);
    snapshot.format = joined("Gadget, format ", kind_.names ? "2, " : "1, ",
                             kind_.order == std::endian::big ? "big-endian" : "little-endian",
                             ", taken to be in kpc, 1e10 Msun and km/s");
    snapshot.left_out = "all blocks but positions, velocities, masses, and ids (for sorting)";
    std::size_t i = 0, own_mass = 0;
    for (std::size_t t = 0; t < kTypes; ++t) {
      for (std::uint32_t k = 0; k < counts_[t]; ++k, ++i) {
        const double mass = masses_[t] > 0 ? masses_[t] : mass_block_.value(own_mass++);
        bodies.add(
            {position_.value(3 * i), position_.value(3 * i + 1), position_.value(3 * i + 2),
             velocity_.value(3 * i), velocity_.value(3 * i + 1), velocity_.value(3 * i + 2), mass},
            static_cast<Species>(t));
        if (id_.count > 0) bodies.add_id(id_.whole(i));
      }
    }
    bodies.move_to(contents);
    return contents;
  }

 private:
  // `count` numbers of four or eight bytes.
  struct Block {
    std::string_view bytes = {};
    std::size_t count = 0, width = 4;
    std::endian order = std::endian::little;

    double value(std::size_t i) const {
      return width == 4 ? static_cast<double>(byte_order::load<float>(bytes, 4 * i, order))
                        : byte_order::load<double>(bytes, 8 * i, order);
    }
    double whole(std::size_t i) const {
      return width == 4 ? static_cast<double>(byte_order::load<std::uint32_t>(bytes, 4 * i, order))
                        : static_cast<double>(byte_order::load<std::uint64_t>(bytes, 8 * i, order));
    }
  };

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... message) const {
    throw UsageError(file_, ": Gadget snapshot, format ", kind_.names ? "2" : "1", ": ",
                     message...);
  }

  // Returns the content of the block at offset_ and moves past it.
  std::string_view next() {
    const auto size_at = [&](std::size_t offset) {
      if (bytes_.size() < 4 || offset > bytes_.size() - 4) fail("it ends within a block");
      return byte_order::load<std::uint32_t>(bytes_, offset, kind_.order);
    };
    const std::uint32_t size = size_at(offset_);
    const std::size_t begin = offset_ + 4;
    if (size > bytes_.size() - begin || size_at(begin + size) != size)
      fail("the block at byte ", offset_, " does not end with its size, ", size);
    offset_ = begin + size + 4;
    return bytes_.substr(begin, size);
  }
  bool at_end() const { return offset_ >= bytes_.size(); }

  std::string name_of_next() {
    const std::string_view name = next();
    if (name.size() != kBlockNameBytes) fail("no four-letter name precedes a block");
    return std::string(trimmed(name.substr(0, 4)));
  }

  void read_header() {
    if (kind_.names) name_of_next();
    const std::string_view header = next();
    if (header.size() != kGadgetHeaderBytes) fail("its header does not have 256 bytes");
    const auto real = [&](std::size_t at) {
      return byte_order::load<double>(header, at, kind_.order);
    };
    const auto files = byte_order::load<std::uint32_t>(header, 124, kind_.order);
    if (files > 1)
      fail("it is one of ", files, " files; only snapshots in one file can be read (export the ",
           "bodies as a table with pynbody; nbody-convert reads such a table)");
    if (real(80) != 0) fail("its redshift is not 0; cosmological snapshots cannot be read");
    time_ = real(72);
    if (!std::isfinite(time_)) fail("its time is not a finite number");
    units_.take_out_hubble(file_, real(152));
    for (std::size_t t = 0; t < kTypes; ++t) {
      counts_[t] = byte_order::load<std::uint32_t>(header, 4 * t, kind_.order);
      masses_[t] = real(24 + 8 * t);
      if (!std::isfinite(masses_[t]) || masses_[t] < 0)
        fail("its header holds a mass of ", shortest(masses_[t]));
      total_ += counts_[t];
      if (!(masses_[t] > 0)) own_masses_ += counts_[t];
    }
    if (total_ == 0) throw UsageError(file_, " holds no bodies");
    if (total_ > std::numeric_limits<int>::max() || 24 * total_ > bytes_.size())
      fail("its header counts ", total_, " bodies, more than the file can hold");
  }

  void find_blocks() {
    struct Wanted {
      const char* name;
      Block* block;
      std::uint64_t count;
      bool required;
    };
    const std::array<Wanted, 4> wanted{{{"POS", &position_, 3 * total_, true},
                                        {"VEL", &velocity_, 3 * total_, true},
                                        {"ID", &id_, total_, false},
                                        {"MASS", &mass_block_, own_masses_, own_masses_ > 0}}};
    std::size_t next_without_name = 0;
    while (!at_end()) {
      std::string name;
      if (kind_.names)
        name = name_of_next();
      else if (next_without_name < wanted.size())
        name = wanted[next_without_name++].name;
      else
        break;
      const std::string_view content = next();
      for (const Wanted& w : wanted)
        if (name == w.name && w.count > 0) *w.block = block_of(w.name, content, w.count);
    }
    for (const Wanted& w : wanted)
      if (w.required && w.block->count == 0) fail("the block ", w.name, " is missing");
  }

  Block block_of(const std::string& name, std::string_view content, std::uint64_t count) const {
    if (content.size() != 4 * count && content.size() != 8 * count)
      fail("the block ", name, " has ", content.size(), " bytes; it must hold ", count,
           " numbers of 4 or 8 bytes");
    return {content, count, content.size() / count, kind_.order};
  }

  const std::string& file_;
  std::string_view bytes_;
  bool float64_;
  Kind kind_{};
  std::size_t offset_ = 0;
  std::array<std::uint32_t, kTypes> counts_{};
  std::array<double, kTypes> masses_{};  // mass of each body of a type; 0: the masses differ
  std::uint64_t total_ = 0, own_masses_ = 0;
  double time_ = 0;
  GadgetUnits units_;
  Block position_, velocity_, id_, mass_block_;
};

bool is_gadget(std::string_view head) { return kind_of(head).has_value(); }

Contents read_gadget(const std::string& file, std::string_view bytes, const ReadOptions& options) {
  return GadgetReader(file, bytes, options.float64).read();
}

}  // namespace

const FileFormat kGadgetBinary{.name = "gadget-binary",
                               .title = "Gadget, format 1 or 2",
                               .ending = "",
                               .unlike = "not Gadget (no header of 256 bytes)",
                               .recognise = is_gadget,
                               .read = read_gadget};

}  // namespace nbody::formats
