// Shared by the experiments that have their own command lines: comma-separated lists and JSON
// records.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "io/write_whole_file.h"
#include "run/command_line.h"
#include "run/result.h"

namespace experiments {

using Json = nlohmann::ordered_json;

// Splits a comma-separated list.
inline std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

// Parses a comma-separated list of integers.
inline std::vector<int> whole_numbers(const std::string& option, const std::string& text, int low,
                                      int high) {
  std::vector<int> numbers;
  for (const std::string& part : parts_of(text)) {
    const auto number = nbody::parse_whole<int>(part);
    if (!number || *number < low || *number > high) {
      nbody::refuse(option, part, nbody::format("a whole number from %d to %d", low, high));
    }
    numbers.push_back(*number);
  }
  if (numbers.empty() || text.back() == ',') nbody::refuse(option, text, "numbers and commas");
  return numbers;
}

// Returns the names in `all`, without repetitions, joined by commas.
template <class Named>
std::string names_of(const Named& all) {
  std::vector<std::string> names;
  for (const auto& one : all)
    if (std::ranges::count(names, one.name) == 0) names.emplace_back(one.name);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Parses a comma-separated list of names, which must be in `all`.
template <class Named>
std::vector<std::string> chosen_of(const std::string& option, const std::string& text,
                                   const Named& all) {
  const auto parts = parts_of(text);
  for (const std::string& part : parts) {
    if (std::ranges::none_of(all, [&](const auto& one) { return one.name == part; }))
      nbody::refuse(option, part, "one of " + names_of(all));
  }
  return parts;
}

// Returns a record: revision, date, device, backend and flags as in a step's record, then `fields`,
// and then the seconds with their median and interquartile range.
inline Json record_of(const char* name, const nbody::Platform& platform, const Json& fields,
                      const std::vector<double>& seconds) {
  nbody::Result result;
  result.info = {.name = name};
  result.platform = platform;
  for (const double time : seconds) result.repeats.push_back({.compute = time});
  const Json whole = Json::parse(nbody::to_json(result));
  Json record;
  for (const char* key : {"step", "revision", "date", "device", "backend", "flags"})
    record[key] = whole[key];
  record.update(fields);
  record["repeats"] = seconds;
  record["median"] = whole["median"]["compute"];
  record["iqr"] = whole["iqr"]["compute"];
  return record;
}

// Prints one record per line. If a file is given, the file is complete after every record.
class Records {
 public:
  explicit Records(const std::string& file) : file_(file) {
    if (!file.empty()) nbody::require_writable(file);
  }
  void add(const Json& record) {
    lines_ += record.dump() + '\n';
    all_pass_ &= record["verdict"] == "pass";
    if (file_.empty()) return;
    nbody::write_whole_file(file_, [&](std::ostream& out) { out << lines_; });
  }
  bool all_pass() const { return all_pass_; }

 private:
  std::string file_, lines_;
  bool all_pass_ = true;
};

}  // namespace experiments
