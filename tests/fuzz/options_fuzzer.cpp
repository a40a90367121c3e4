// Treats any bytes as a command line with one argument per line. Accepted options must be in range.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "fuzzing.h"
#include "nbody/error.h"
#include "run/options.h"

namespace {

using nbody::fuzz::fail;

bool in_range(const std::optional<int>& value, int low) { return !value || *value >= low; }
bool in_range(const std::optional<double>& value, double low) {
  return !value || (*value >= low && *value <= 3.5e38);
}

void check_sound(const nbody::Options& options) {
  if (!in_range(options.systems, 1) || !in_range(options.bodies, 1) || !in_range(options.steps, 0))
    fail("systems, bodies or steps");
  if (options.dt && !in_range(std::optional(std::abs(*options.dt)), 1e-30)) fail("dt");
  if (!in_range(options.softening, 1e-12)) fail("softening");
  if (options.devices < 0 || options.devices > 64) fail("devices");
  if (options.repeat < 1 || options.warmup < 0) fail("repeat or warmup");
  if ((options.snapshot_every > 0) == options.snapshot_folder.empty()) fail("snapshots");
  const int sources =
      options.input.has_value() + options.scenario.has_value() + !options.resume.empty();
  if (sources > 1) fail("more than one start");
  if (options.restart && (options.checkpoint.empty() || !options.resume.empty())) fail("restart");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::cout.setstate(std::ios::failbit);  // hides what --help prints
  std::vector<std::string> arguments{"step"};
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  for (std::string line; std::getline(lines, line);) arguments.push_back(line.c_str());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  try {
    const auto options = nbody::parse_options({.name = "step", .multi_device = size % 2 == 0},
                                              static_cast<int>(arguments.size()), argv.data());
    if (options) check_sound(*options);
  } catch (const nbody::UsageError& error) {
    nbody::fuzz::check_message(error.what());
  }
  return 0;
}
