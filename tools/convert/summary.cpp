#include "summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "change.h"
#include "io/units.h"
#include "physics/diagnostics.h"
#include "support/text.h"

namespace nbody::convert {
namespace {

std::string units_line(const std::string& text) {
  if (text.empty()) return "  units        not known\n";
  std::string line = "  units        " + text;
  constexpr double kMyr = 365.25e6 * 86400;
  if (const auto units = units_of(text))
    line += format(": %.6g kpc, %.6g Msun, %.6g Myr, %.6g km/s", units->kpc(), units->msun(),
                   units->time() / kMyr, units->velocity() / 1e3);
  return line + "\n";
}

std::string species_lines(const Snapshot& snapshot) {
  std::array<double, kSpeciesNames.size()> mass{};
  std::array<std::size_t, kSpeciesNames.size()> count{};
  double all = 0;
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i) {
    const double m = snapshot.systems.bodies[i].mass;
    all += m;
    if (snapshot.species.empty()) continue;
    mass[static_cast<std::size_t>(snapshot.species[i])] += m;
    ++count[static_cast<std::size_t>(snapshot.species[i])];
  }
  std::string lines;
  for (std::size_t k = 0; k < count.size(); ++k)
    if (count[k] > 0)
      lines += format("  %-12s %zu bodies, mass %.6g\n", std::string(kSpeciesNames[k]).c_str(),
                      count[k], mass[k]);
  return lines + format("  mass         %.6g\n", all);
}

std::string extent_line(const Snapshot& snapshot) {
  const auto range = [&](float Body::*coordinate) {
    const auto [low, high] = std::minmax_element(
        snapshot.systems.bodies.begin(), snapshot.systems.bodies.end(),
        [&](const Body& a, const Body& b) { return a.*coordinate < b.*coordinate; });
    return format("%.6g to %.6g", static_cast<double>(*low.*coordinate),
                  static_cast<double>(*high.*coordinate));
  };
  return "  extent       x " + range(&Body::x) + ", y " + range(&Body::y) + ", z " +
         range(&Body::z) + "\n";
}

// Limit on the interactions for the potential energy. With this limit, a million bodies take about
// 0.2 s on one core, and the error is about 2 %.
constexpr double kInteractions = 2.5e8;

std::string virial_line(Snapshot snapshot) {
  move_to_centre(snapshot);
  const Diagnostics sums = diagnose(snapshot.systems, snapshot.softening, kInteractions);
  std::string softening = snapshot.softening > 0 ? format("softening %.6g", snapshot.softening)
                                                 : std::string("softening unknown, so 0 is used");
  if (sums.potential_is_sampled())
    softening +=
        format(", estimated with a relative error of %.1e", -sums.potential_error / sums.potential);
  if (!std::isfinite(sums.potential))
    return "  virial       undefined, because two bodies coincide (" + softening + ")\n";
  return format("  virial       2T/|W| = %.6g (%s)\n", sums.virial_ratio(), softening.c_str());
}

Centre centre_of_first(const Snapshot& snapshot) {
  const std::span<const Body> bodies = snapshot.systems.system(0);
  if (snapshot.exact.empty()) return centre_of(bodies);
  return centre_of(std::span<const BodyF64>(snapshot.exact).first(bodies.size()));
}

}  // namespace

std::string summary(const Snapshot& snapshot) {
  const Systems& systems = snapshot.systems;
  const Centre centre = centre_of_first(snapshot);
  const auto vector = [](const char* name, const Vector3& v) {
    return format("  %-12s %.6g, %.6g, %.6g\n", name, v.x, v.y, v.z);
  };
  std::string text = units_line(snapshot.units);
  text += format("  bodies       %d system%s of %d, %s, time %.6g\n", systems.count,
                 systems.count == 1 ? "" : "s", systems.bodies_per_system,
                 snapshot.exact.empty() ? "float32" : "float64", snapshot.time);
  text += species_lines(snapshot) + extent_line(snapshot);
  text += vector("centre", centre.position) + vector("velocity", centre.velocity);
  text += virial_line(snapshot);
  if (!snapshot.left_out.empty()) text += "  not read     " + snapshot.left_out + "\n";
  return text;
}

}  // namespace nbody::convert
