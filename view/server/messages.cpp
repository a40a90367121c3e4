#include "messages.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "frame.h"
#include "io/units.h"

namespace nbody::view {
namespace {

using nlohmann::json;

const std::map<std::string, Command::Type> kCommands = {
    {"next", Command::Type::next},     {"pause", Command::Type::pause},
    {"resume", Command::Type::resume}, {"step", Command::Type::step},
    {"speed", Command::Type::speed},   {"forces", Command::Type::forces},
    {"stair", Command::Type::stair}};

std::string known_commands() {
  std::string names;
  for (const auto& [name, unused] : kCommands) names += (names.empty() ? "" : ", ") + name;
  return names;
}

int whole_in(const json& message, const std::string& command, const std::string& name, int most) {
  const auto found = message.find(name);
  // get<int> alone would wrap a number that does not fit.
  if (found != message.end() && found->is_number_unsigned() &&
      found->get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) {
    return found->get<int>();
  }
  throw UnknownCommand(command + " needs " + name + ", a whole number from 0 to " +
                       std::to_string(most));
}

double number_in(const json& message, const char* name) {
  const auto found = message.find(name);
  if (found == message.end() || !found->is_number())
    throw UnknownCommand("forces needs dt and softening, two numbers");
  return found->get<double>();
}

// Describes a frame's bodies as a list of [component, number of consecutive bodies]. A component is
// a species if there are several species, otherwise a system. Components are numbered in order of
// appearance.
void describe_components(const Snapshot& snapshot, const Thinning& thinning, json& info) {
  const int systems = snapshot.systems.count, n = snapshot.systems.bodies_per_system;
  const auto& species = snapshot.species;
  const bool by_species =
      std::adjacent_find(species.begin(), species.end(), std::not_equal_to<>{}) != species.end();
  std::map<int, std::size_t> components;  // component of each species or system
  std::vector<std::string> names;
  std::vector<std::array<std::size_t, 2>> runs;
  for (int s = 0; s < systems; ++s) {
    for (const int i : thinning.bodies()) {
      const int key =
          by_species ? static_cast<int>(species[static_cast<std::size_t>(s) * n + i]) : s;
      const auto [component, is_new] = components.try_emplace(key, names.size());
      if (is_new) {
        names.push_back(by_species ? std::string(to_string(static_cast<Species>(key)))
                                   : "system " + std::to_string(s + 1));
      }
      if (runs.empty() || runs.back()[0] != component->second)
        runs.push_back({component->second, 0});
      ++runs.back()[1];
    }
  }
  info["components"] = names;
  info["component_runs"] = runs;
}

// Returns the unit of time in which the run's numbers are easiest to read, and the length of the
// run's own time unit in that unit; null if the run's units have no physical scale.
json time_unit(const Snapshot& snapshot) {
  const auto units = units_of(snapshot.units);
  if (!units) return nullptr;
  constexpr double kYear = 365.25 * 86400;
  const double years = units->time() / kYear;
  for (const auto& [name, size] : {std::pair("Gyr", 1e9), {"Myr", 1e6}, {"yr", 0.1}})
    if (years >= size || size == 0.1)
      return {{"name", name}, {"size", years / std::max(size, 1.0)}};
  return nullptr;
}

// Returns the unit of length in which the run's numbers are easiest to read, and the length of the
// run's own unit in that unit; null as for time_unit.
json length_unit(const Snapshot& snapshot) {
  const auto units = units_of(snapshot.units);
  if (!units) return nullptr;
  constexpr double kPc = kKpc / 1e3;
  for (const auto& [name, size] :
       {std::pair("Mpc", 1e6 * kPc), {"kpc", kKpc}, {"pc", kPc}, {"au", kAu}, {"km", 1e3}})
    if (units->length >= size || size == 1e3)
      return {{"name", name}, {"size", units->length / size}};
  return nullptr;
}

json speed_unit(const Snapshot& snapshot) {
  const auto units = units_of(snapshot.units);
  if (!units) return nullptr;
  return {{"name", "km/s"}, {"size", units->velocity() / 1e3}};
}

void describe_few(const Snapshot& snapshot, json& info) {
  const auto& bodies = snapshot.systems.bodies;
  if (bodies.size() > kFewBodies) return;
  if (!snapshot.names.empty()) info["names"] = snapshot.names;
  for (const Body& body : bodies) info["masses"].push_back(body.mass);
}

}  // namespace

Command parse_command(std::string_view text) {
  const json message = json::parse(text, nullptr, false);
  if (message.is_discarded()) throw MalformedMessage("not JSON");
  if (!message.is_object()) throw UnknownCommand("a message must be an object");
  const auto type = message.find("type");
  if (type == message.end() || !type->is_string())
    throw UnknownCommand("a message must have a type");
  const auto found = kCommands.find(type->get<std::string>());
  if (found == kCommands.end()) throw UnknownCommand("unknown type; allowed: " + known_commands());

  Command command{found->second};
  std::size_t fields = 1;
  if (command.type == Command::Type::speed) {
    command.steps_per_frame = whole_in(message, "speed", "steps_per_frame", kMaxStepsPerFrame);
    fields = 2;
  } else if (command.type == Command::Type::stair) {
    command.stair = static_cast<std::size_t>(whole_in(message, "stair", "stair", 1000));
    fields = 2;
  } else if (command.type == Command::Type::forces) {
    command.dt = number_in(message, "dt");
    command.softening = number_in(message, "softening");
    fields = 3;
  }
  if (message.size() > fields) throw UnknownCommand("unknown field");
  return command;
}

std::string command_message(const Command& command) {
  json message;
  for (const auto& [name, type] : kCommands)
    if (type == command.type) message["type"] = name;
  if (command.type == Command::Type::speed) message["steps_per_frame"] = command.steps_per_frame;
  if (command.type == Command::Type::stair) message["stair"] = command.stair;
  if (command.type == Command::Type::forces) {
    message["dt"] = command.dt;
    message["softening"] = command.softening;
  }
  return message.dump();
}

std::string error_message(std::string_view what) {
  return json{{"type", "error"}, {"message", what}}.dump();
}

std::string info_message(const Info& info, const Snapshot& snapshot, const Thinning& thinning) {
  json message = {{"type", "info"},
                  {"version", 1},
                  {"program", info.program},
                  {"device", info.device},
                  {"backend", info.backend},
                  {"integrator", to_string(snapshot.integrator)},
                  {"dt", snapshot.dt},
                  {"softening", snapshot.softening},
                  {"may_change_forces", info.may_change_forces},
                  {"approximates", info.approximates},
                  {"start_time", snapshot.time},
                  {"last_step", info.last_step ? json(*info.last_step) : json()},
                  {"shown_level", thinning.level()},
                  {"shown_every", thinning.every()},
                  {"scenario", snapshot.scenario},
                  {"units", snapshot.units},
                  {"time_unit", time_unit(snapshot)},
                  {"length_unit", length_unit(snapshot)},
                  {"speed_unit", speed_unit(snapshot)},
                  {"no_energy", info.no_energy},
                  {"systems", snapshot.systems.count},
                  {"bodies_per_system", snapshot.systems.bodies_per_system}};
  describe_components(snapshot, thinning, message);
  describe_few(snapshot, message);
  // File names and strings in files need not be UTF-8.
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string status_message(const Status& status) {
  json message = {{"type", "status"},
                  {"paused", status.paused},
                  {"finished", status.finished},
                  {"steps_per_frame", status.steps_per_frame},
                  {"dt", status.dt},
                  {"softening", status.softening},
                  {"energy", nullptr}};
  if (status.energy) {
    message["energy"] = {{"error", status.energy->error},
                         {"since", status.energy->since},
                         {"time", status.energy->time},
                         {"uncertainty", status.energy->uncertainty}};
  }
  return message.dump();
}

}  // namespace nbody::view
