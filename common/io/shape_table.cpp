#include "io/shape_table.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "nbody/error.h"

namespace nbody {
namespace {

using Table = nlohmann::ordered_json;  // as in run/result.cpp, so that it is compiled once

constexpr size_t kQuotedText = 40;  // characters of a wrong value that a message quotes

// A value of the table with its path, so that a message can say where a wrong value is.
struct TableValue {
  std::string file, path;
  const Table& json;

  std::string where() const { return file + ": " + path + (path.empty() ? "" : ": "); }

  [[noreturn]] void refuse(const std::string& allowed) const {
    std::string text = json.dump(-1, ' ', false, Table::error_handler_t::replace);
    if (text.size() > kQuotedText) text = text.substr(0, kQuotedText) + "...";
    throw UsageError(where(), text, " is not allowed; it must be ", allowed);
  }
  const TableValue& object() const {
    if (!json.is_object()) refuse("an object");
    return *this;
  }
  bool has(const std::string& name) const { return object().json.contains(name); }
  TableValue at(const std::string& name) const {
    if (has(name)) return {file, path + "/" + name, json.at(name)};
    throw UsageError(where(), "there is no \"", name, "\"; ./nbody tune writes one");
  }
  int whole_number(int least) const {
    const bool fits = json.is_number_integer() && json >= least && json <= INT_MAX;
    if (!fits) refuse(joined("a whole number from ", least, " to ", INT_MAX));
    return json.get<int>();
  }
  double number() const {
    if (!json.is_number()) refuse("a number");
    return json.get<double>();
  }
  std::string text() const {
    if (!json.is_string()) refuse("a string");
    return json.get<std::string>();
  }
};

TunedShape shape_of(const TableValue& entry) {
  TunedShape shape{.systems = entry.at("systems").whole_number(1),
                   .bodies = entry.at("bodies").whole_number(1),
                   .rank = entry.at("rank").whole_number(0)};
  if (entry.has("blocks")) shape.blocks = entry.at("blocks").number();
  if (entry.has("slots")) shape.slots = entry.at("slots").number();
  return shape;
}

Tuning tuning_of(const TableValue& device, const std::string& program) {
  Tuning tuning;
  tuning.origin = device.at("date").text();
  const TableValue shapes = device.at("shapes");
  if (!shapes.json.is_array()) shapes.refuse("an array of shapes");
  for (size_t i = 0; i < shapes.json.size(); ++i) {
    const TableValue entry{shapes.file, shapes.path + "/" + std::to_string(i), shapes.json[i]};
    const TunedShape shape = shape_of(entry);
    if (entry.at("step").text() == program) tuning.shapes.push_back(shape);
  }
  return tuning;
}

Table parse_table(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in || std::filesystem::is_directory(file)) throw UsageError(file, ": cannot be read");
  const std::string text = content.str();
  try {
    return Table::parse(text);
  } catch (const Table::parse_error& error) {
    const size_t good = std::min(error.byte, text.size());
    const auto line = 1 + std::ranges::count(text.substr(0, good), '\n');
    throw UsageError(file, ":", line,
                     ": not JSON; the file must be a table that ./nbody tune wrote");
  } catch (const Table::out_of_range&) {
    throw UsageError(file, ": it holds a number beyond 1.8e308; the file must be a table that ",
                     "./nbody tune wrote");
  }
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
  const Table table = parse_table(file);
  const TableValue devices = TableValue{file.string(), "", table}.at("devices").object();
  Tuning found;
  // Also checks the entries for other devices, so that a wrong table is rejected on every machine.
  for (const auto& [name, json] : devices.json.items()) {
    Tuning tuning = tuning_of({devices.file, devices.path + "/" + name, json}, program);
    if (name != device) continue;
    tuning.origin = device + ", " + tuning.origin;
    found = std::move(tuning);
  }
  return found;
}

std::string shape_origin(const Tuning& tuning) {
  if (!tuning.chosen) return "";
  return tuning.chosen->tuned ? "tuned on " + tuning.origin : "rule";
}

}  // namespace nbody
