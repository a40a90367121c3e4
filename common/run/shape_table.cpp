#include "run/shape_table.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "nbody/error.h"

namespace nbody {
namespace {

using Table = nlohmann::json;

TunedShape shape_of(const Table& entry) {
  TunedShape shape{.systems = entry.at("systems").get<int>(),
                   .bodies = entry.at("bodies").get<int>(),
                   .rank = entry.at("rank").get<int>()};
  if (entry.contains("blocks")) shape.blocks = entry.at("blocks").get<double>();
  if (entry.contains("slots")) shape.slots = entry.at("slots").get<double>();
  if (shape.rank < 0) throw std::invalid_argument("a rank is negative");
  return shape;
}

}  // namespace

std::filesystem::path users_shape_table() {
  const std::filesystem::path name = std::filesystem::path("nbody-steps") / "shapes.json";
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config != '\0') return config / name;
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::filesystem::path(home) / ".config" / name;
  return {};
}

Tuning read_shape_table(const std::filesystem::path& file, const std::string& program,
                        const std::string& device) {
  std::ifstream in(file);
  if (!in) throw UsageError(file.string() + ": cannot be read");
  try {
    const Table devices = Table::parse(in).at("devices");
    Tuning tuning;
    if (!devices.contains(device)) return tuning;
    const Table& known = devices.at(device);
    tuning.origin = device + ", " + known.at("date").get<std::string>();
    for (const Table& entry : known.at("shapes")) {
      const TunedShape shape = shape_of(entry);
      if (entry.at("step").get<std::string>() == program) tuning.shapes.push_back(shape);
    }
    return tuning;
  } catch (const std::exception& error) {
    throw UsageError(file.string() + ": not a table of ./nbody tune: " + error.what());
  }
}

std::string shape_origin(const Tuning& tuning) {
  if (!tuning.chosen) return "";
  return tuning.chosen->tuned ? "tuned on " + tuning.origin : "rule";
}

}  // namespace nbody
