// Requirements on bodies and strings that all formats share.
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {

bool is_text(std::string_view text, Cut cut) {
  int continuation_bytes = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xc0) == 0x80;
    if (continues != (continuation_bytes > 0)) return false;
    if (continues) {
      --continuation_bytes;
    } else if (byte >= 0xc2 && byte <= 0xf4) {
      continuation_bytes = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    } else if (byte >= 0x7f || (byte < 0x20 && byte != '\t' && byte != '\r' && byte != '\n')) {
      return false;
    }
  }
  return cut == Cut::anywhere || continuation_bytes == 0;
}

template <class Real>
void check_body(const std::string& file, std::size_t index, const BasicBody<Real>& body) {
  const auto fail = [&](const char* name, Real value, const char* rule) {
    throw UsageError(file, ": body ", index, ": ", name, " is ", shortest(value), "; ", rule);
  };
  constexpr const char* kNames[] = {"x", "y", "z", "vx", "vy", "vz", "mass"};
  const auto values = std::bit_cast<std::array<Real, std::size(kNames)>>(body);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      fail(kNames[k], values[k], "every value must be a finite number");
  if (body.mass < 0) fail("mass", body.mass, "a mass must not be negative");
}
template void check_body(const std::string&, std::size_t, const Body&);
template void check_body(const std::string&, std::size_t, const BodyF64&);

void check_text(const std::string& where, std::string_view key, std::string_view text) {
  const std::string what = where + ": " + std::string(key);
  if (text.size() > kMaxTextBytes)
    throw UsageError(what, " is ", text.size(), " bytes long; at most ", kMaxTextBytes,
                     " can be kept");
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      throw UsageError(what, " holds a control character; it must be one line of text");
  // A CSV file with a text that is not UTF-8 would not be recognised as CSV.
  if (!is_text(text, Cut::nowhere)) throw UsageError(what, " is not UTF-8");
  // The CSV reader trims values, so writing and reading such a text would change it.
  if (!text.empty() && (text.front() == ' ' || text.back() == ' '))
    throw UsageError(what, " must not begin or end with a space");
}

std::string checkpoint_text(const decltype(Snapshot::checkpoint)& checkpoint) {
  std::string text;
  for (const auto& [key, value] : checkpoint) text += key + "=" + value + "\n";
  return text;
}

decltype(Snapshot::checkpoint) parse_checkpoint(const std::string& where, std::string_view text) {
  decltype(Snapshot::checkpoint) checkpoint;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const auto equals = line.find('=');
    const std::string key(line.substr(0, equals));
    const std::string_view value = line.substr(equals == line.npos ? line.size() : equals + 1);
    if (end == text.npos || equals == line.npos || key.empty() ||
        key.find_first_not_of(kLetters) != key.npos || trimmed(value) != value ||
        value.find_first_of("\t\r") != value.npos || !is_text(value, Cut::nowhere))
      throw UsageError(where, ": \"", line.substr(0, 40), "\" is not a line of a checkpoint");
    if (!checkpoint.emplace(key, value).second)
      throw UsageError(where, ": the checkpoint gives its ", key, " twice");
    text.remove_prefix(end + 1);
  }
  return checkpoint;
}

void check_snapshot(const Snapshot& snapshot) {
  const Systems& systems = snapshot.systems;
  const auto n = static_cast<std::size_t>(systems.bodies_per_system);
  const std::size_t all = systems.bodies.size();
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw std::invalid_argument(std::string("a snapshot ") + rule);
  };
  require(systems.count >= 1 && systems.bodies_per_system >= 1, "without bodies cannot be written");
  require(all == static_cast<std::size_t>(systems.count) * n,
          "must hold count * bodies_per_system bodies");
  require(snapshot.exact.empty() || snapshot.exact.size() == all,
          "must hold every body in float64 or none");
  require(snapshot.names.empty() || snapshot.names.size() == n,
          "must name every body of a system or none");
  require(snapshot.species.empty() || snapshot.species.size() == all,
          "must say the species of every body or of none");
}

}  // namespace nbody::formats
