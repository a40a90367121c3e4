#include "formats.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "nbody/error.h"

namespace nbody::formats {
namespace {

template <typename T>
std::string shortest(T value) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

}  // namespace

std::string digits(double value) { return shortest(value); }
std::string digits(float value) { return shortest(value); }

Shape shape_of(const std::string& file, std::uint64_t total, std::optional<int> systems_in_file,
               const ReadOptions& options) {
  const std::string holds = file + " holds " + std::to_string(total) + " bodies";
  if (total == 0) throw UsageError(file + " holds no bodies");
  if (total > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw UsageError(holds + "; at most 2147483647 are possible");
  if ((options.systems && *options.systems < 1) || (options.bodies && *options.bodies < 1))
    throw UsageError("the numbers of systems and of bodies must be at least 1");

  if (systems_in_file) {
    const auto systems = static_cast<std::uint64_t>(*systems_in_file);
    if (total % systems != 0)
      throw UsageError(holds + ", which cannot be cut into its " + std::to_string(systems) +
                       " systems of one size");
    const Shape shape{*systems_in_file, static_cast<int>(total / systems)};
    if (options.systems.value_or(shape.systems) != shape.systems ||
        options.bodies.value_or(shape.bodies) != shape.bodies)
      throw UsageError(file + " holds " + std::to_string(shape.systems) + " systems of " +
                       std::to_string(shape.bodies) + " bodies, not " +
                       std::to_string(options.systems.value_or(shape.systems)) + " of " +
                       std::to_string(options.bodies.value_or(shape.bodies)));
    return shape;
  }

  const auto total_int = static_cast<int>(total);
  if (options.systems && options.bodies) {
    // 64 bits: the product of two options may not fit an int.
    if (static_cast<long long>(*options.systems) * *options.bodies != total_int)
      throw UsageError(holds + ", not " + std::to_string(*options.systems) + " systems of " +
                       std::to_string(*options.bodies));
    return {*options.systems, *options.bodies};
  }
  if (options.systems) {
    if (total_int % *options.systems != 0)
      throw UsageError(holds + ", which cannot be cut into " + std::to_string(*options.systems) +
                       " systems of one size");
    return {*options.systems, total_int / *options.systems};
  }
  const int bodies = options.bodies.value_or(total_int);
  if (total_int % bodies != 0)
    throw UsageError(holds + ", which cannot be cut into systems of " + std::to_string(bodies));
  return {total_int / bodies, bodies};
}

void check_body(const std::string& file, std::size_t index, const Body& body) {
  const auto fail = [&](const char* name, float value, const char* rule) {
    throw UsageError(file + ": body " + std::to_string(index) + ": " + name + " is " +
                     digits(value) + "; " + rule);
  };
  const auto finite = [&](const char* name, float value) {
    if (!std::isfinite(value)) fail(name, value, "every value must be a finite number");
  };
  finite("x", body.x);
  finite("y", body.y);
  finite("z", body.z);
  finite("vx", body.vx);
  finite("vy", body.vy);
  finite("vz", body.vz);
  finite("mass", body.mass);
  if (body.mass < 0) fail("mass", body.mass, "a mass must not be negative");
}

void check_text(const std::string& where, std::string_view key, std::string_view text) {
  const std::string what = where + ": " + std::string(key);
  if (text.size() > kMaxTextBytes)
    throw UsageError(what + " is " + std::to_string(text.size()) + " bytes long; at most " +
                     std::to_string(kMaxTextBytes) + " can be kept");
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      throw UsageError(what + " holds a control character; it must be one line of text");
  // CSV trims its values, so such a text would not come back.
  if (!text.empty() && (text.front() == ' ' || text.back() == ' '))
    throw UsageError(what + " must not begin or end with a space");
}

void check_snapshot(const Snapshot& snapshot) {
  const Systems& systems = snapshot.systems;
  if (systems.count < 1 || systems.bodies_per_system < 1)
    throw std::invalid_argument("a snapshot without bodies cannot be written");
  if (systems.bodies.size() !=
      static_cast<std::size_t>(systems.count) * static_cast<std::size_t>(systems.bodies_per_system))
    throw std::invalid_argument("a snapshot must hold count * bodies_per_system bodies");
  if (!snapshot.exact.empty() && snapshot.exact.size() != systems.bodies.size())
    throw std::invalid_argument("a snapshot must hold every body in float64 or none");
  if (!snapshot.names.empty() &&
      snapshot.names.size() != static_cast<std::size_t>(systems.bodies_per_system))
    throw std::invalid_argument("a snapshot must name all bodies of a system or none");
}

}  // namespace nbody::formats
