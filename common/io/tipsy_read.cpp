// Reads Tipsy files of either byte order, with 28 or 32 bytes of header (layout: tipsy.h).
#include <array>
#include <cmath>
#include <string>

#include "io/byte_order.h"
#include "io/formats.h"
#include "io/tipsy.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

using namespace tipsy;

const char* name_of(std::endian order) {
  return order == std::endian::big ? "big-endian" : "little-endian";
}

// 1, 2 or 3 in one byte order is a huge number in the other.
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

// The header of a file of `size` bytes. Throws unless everything in it agrees with everything else.
Header header_of(const std::string& file, std::string_view head, std::uint64_t size) {
  const auto order = order_of(head);
  if (!order)
    throw UsageError(file + ": not Tipsy: its number of dimensions is not 1, 2 or 3 in either " +
                     "byte order");
  const std::string what = file + ": Tipsy, " + name_of(*order) + ": ";
  if (head.size() < kShortHeader)
    throw UsageError(what + std::to_string(head.size()) +
                     " bytes; the header alone takes 28 or 32");
  Header header{*order, 0, byte_order::load<double>(head, kTime, *order), {}};
  const std::int64_t bodies = byte_order::load<std::int32_t>(head, kBodies, *order);
  std::int64_t sum = 0;
  std::uint64_t expected = 0;
  for (std::size_t k = 0; k < kRecords.size(); ++k) {
    header.counts[k] = byte_order::load<std::int32_t>(head, kCounts + 4 * k, *order);
    if (header.counts[k] < 0)
      throw UsageError(what + "its header counts " + std::to_string(header.counts[k]) + " " +
                       std::string(to_string(kRecords[k].species)) + " bodies");
    sum += header.counts[k];
    expected += static_cast<std::uint64_t>(header.counts[k]) * kRecords[k].floats * sizeof(float);
  }
  const std::string claim = std::to_string(header.counts[0]) + " gas, " +
                            std::to_string(header.counts[1]) + " dark and " +
                            std::to_string(header.counts[2]) + " star bodies";
  if (bodies != sum)
    throw UsageError(what + "its header counts " + std::to_string(bodies) + " bodies, but " +
                     claim);
  if (bodies == 0) throw UsageError(file + " holds no bodies");
  if (!std::isfinite(header.time))
    throw UsageError(what + "time in the header is not a finite number");
  const std::uint64_t double_positions = static_cast<std::uint64_t>(bodies) * 3 * sizeof(float);
  if (size == expected + kShortHeader)
    header.bytes = kShortHeader;
  else if (size == expected + kHeader)
    header.bytes = kHeader;
  else if (size == expected + double_positions + kShortHeader ||
           size == expected + double_positions + kHeader)
    throw UsageError(what + "its positions are float64; only files of float32 can be read");
  else
    throw UsageError(what + std::to_string(size) + " bytes, but its header describes " + claim +
                     ", which take " + std::to_string(expected + kShortHeader) + " or " +
                     std::to_string(expected + kHeader));
  return header;
}

// The softening length that all dark and star bodies have in common, or 0.
class CommonSoftening {
 public:
  void add(float eps) {
    if (first_ && *first_ != eps) differ_ = true;
    first_ = eps;
  }
  double value() const { return differ_ ? 0 : static_cast<double>(first_.value_or(0)); }

 private:
  std::optional<float> first_;
  bool differ_ = false;
};

}  // namespace

bool is_tipsy(std::string_view head) { return order_of(head).has_value(); }

void check_tipsy_header(const std::string& file, std::string_view head, std::uint64_t size) {
  header_of(file, head, size);
}

Contents read_tipsy(const std::string& file, std::string_view bytes) {
  const Header header = header_of(file, bytes, bytes.size());
  Contents contents;
  contents.snapshot.time = header.time;
  contents.snapshot.format = std::string("Tipsy, ") + name_of(header.order) + ", header of " +
                             std::to_string(header.bytes) + " bytes";
  CommonSoftening softening;
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
          throw UsageError(file + ": body " + std::to_string(contents.bodies.size()) + ": eps is " +
                           shortest(eps) + "; a softening length must be finite and not negative");
        softening.add(eps);
      }
      contents.bodies.push_back(body);
      contents.species.push_back(kRecords[k].species);
      offset += kRecords[k].floats * sizeof(float);
    }
  }
  contents.snapshot.softening = softening.value();
  return contents;
}

}  // namespace nbody::formats
