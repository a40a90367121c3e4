#include "io/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody {
namespace {

struct Preset {
  std::string_view name;
  std::string_view older_text;  // what files contained before presets had names
  std::optional<Units> units;
};
const std::array<Preset, 4> kPresets{{
    {"henon", "Henon units", std::nullopt},
    {"au-msun-yr2pi", "AU, Msun, yr/2pi", Units{kAu, kSunGm}},
    {"kpc-msun", "", Units{kKpc, kSunGm}},
    {"kpc-100kms", "", Units{kKpc, kKpc * 1e5 * 1e5}},
}};

const Preset* find_preset(std::string_view text) {
  for (const Preset& preset : kPresets)
    if (text == preset.name || (!text.empty() && text == preset.older_text)) return &preset;
  return nullptr;
}

// If `text` begins with a number and `unit`, removes both from `text` and returns the number.
// Otherwise, or if the number is not between kSmallestUnit and kLargestUnit, returns nothing.
std::optional<double> take(std::string_view& text, std::string_view unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= kSmallestUnit && value <= kLargestUnit))
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(unit)) return std::nullopt;
  text.remove_prefix(unit.size());
  return value;
}

bool nearly_equal(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

}  // namespace

double Units::time() const { return std::sqrt(length * length * length / mass_gm); }
double Units::velocity() const { return std::sqrt(mass_gm / length); }

std::optional<Units> units_of(std::string_view text) {
  if (const Preset* preset = find_preset(text)) return preset->units;
  const auto kpc = take(text, " kpc, ");
  const auto msun = kpc ? take(text, " Msun") : std::nullopt;
  if (!msun || !text.empty()) return std::nullopt;
  return Units{*kpc * kKpc, *msun * kSunGm};
}

std::string units_text(double kpc, double msun) {
  for (const Preset& preset : kPresets)
    if (preset.units && nearly_equal(kpc, preset.units->kpc()) &&
        nearly_equal(msun, preset.units->msun()))
      return std::string(preset.name);
  std::string text;
  for (int digits = 17; digits > 0; --digits) {
    text = in_digits(kpc, digits) + " kpc, " + in_digits(msun, digits) + " Msun";
    if (text.size() <= kMaxTextBytes) break;
  }
  return text;
}

std::string unit_presets() { return listed(kPresets, &Preset::name); }

void require_preset(const std::string& option, std::string_view name) {
  if (std::ranges::find(kPresets, name, &Preset::name) == kPresets.end())
    refuse(option, name, "one of ", unit_presets());
}

void require_units_of_tipsy(const std::string& file, const Snapshot& snapshot,
                            std::string_view option) {
  if (snapshot.format.starts_with("Tipsy") && snapshot.units.empty())
    throw UsageError(file,
                     ": a Tipsy file does not give its units, and no .param file next to it does: "
                     "specify the units with ",
                     option, " (", unit_presets(), ")");
}

void rescale(const std::string& file, Snapshot& snapshot, const Units& from, const Units& to) {
  const double length = from.length / to.length;
  const double velocity = from.velocity() / to.velocity();
  const double mass = from.mass_gm / to.mass_gm;
  const double time = from.time() / to.time();
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i) {
    Body& body = snapshot.systems.bodies[i];
    BodyF64 exact = snapshot.exact.empty() ? widened(body) : snapshot.exact[i];
    for (double* x : {&exact.x, &exact.y, &exact.z}) *x *= length;
    for (double* v : {&exact.vx, &exact.vy, &exact.vz}) *v *= velocity;
    exact.mass *= mass;
    body = rounded(exact);
    formats::check_body(file + " in other units", i, body);
    if (exact.mass > 0 && !(body.mass > 0))
      throw UsageError(file, " in other units: body ", i, ": its mass is too small for a float32");
    if (!snapshot.exact.empty()) snapshot.exact[i] = exact;
  }
  snapshot.softening *= length;
  snapshot.time *= time;
  snapshot.dt *= time;
  if (!std::isfinite(snapshot.softening + snapshot.time + snapshot.dt))
    throw UsageError(file, " in other units: its time, time step or softening overflows");
}

void convert_units(const std::string& file, Snapshot& snapshot, const std::string& preset) {
  const auto known = find_preset(preset);
  if (find_preset(snapshot.units) != known || known == nullptr) {
    const auto from = units_of(snapshot.units), to = units_of(preset);
    if (!from)
      throw UsageError(
          file, ": its units are ",
          (snapshot.units.empty() ? "not known"
                                  : "\"" + snapshot.units + "\", which have no physical scale"),
          "; they cannot be converted to ", preset);
    if (!to)
      throw UsageError(file, ": cannot be converted to ", preset,
                       " units, which have no physical scale");
    rescale(file, snapshot, *from, *to);
  }
  snapshot.units = preset;
}

}  // namespace nbody
