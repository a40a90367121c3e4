// The .param file next to a Tipsy file. It holds the units, which a Tipsy file cannot store, as
// lines `key = value`. PKDGRAV and Gasoline read such files.
//
//   dKpcUnit, dMsolUnit  the units of length and mass, in which G = 1
//   bComove              0: not a cosmological simulation (only such files can be read)
//   dSoft, dDelta        softening length and time step
//   # units = TEXT       ours, for units with no physical scale; a comment to other programs
#include <fstream>
#include <limits>
#include <map>
#include <ostream>

#include "io/formats/formats.h"
#include "io/units.h"
#include "io/write_whole_file.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "# Units of a Tipsy file, written by nbody-steps";
constexpr std::size_t kMaxBytes = 1 << 20;

// Characters that are removed at both ends of a value: blanks, and the quotes that some programs
// write.
constexpr std::string_view kOuter = " \t\r\"";

std::string head_of(const fs::path& param) {
  std::string text(kMaxBytes, '\0');
  std::ifstream in(param, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::map<std::string, std::string, std::less<>> keys_of(const std::string& where,
                                                        std::string_view text) {
  std::map<std::string, std::string, std::less<>> keys;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end), kOuter);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const bool comment = line.starts_with('#');
    if (comment) line = trimmed(line.substr(1), kOuter);
    const auto equals = line.find('=');
    const std::string key(trimmed(line.substr(0, equals), kOuter));
    // All comments but ours are ignored.
    if (line.empty() || (comment && (key != "units" || equals == std::string_view::npos))) continue;
    if (equals == std::string_view::npos)
      throw UsageError(where, ": \"", line.substr(0, 40), "\" is not of the form key = value");
    const std::string_view value = line.substr(equals + 1);
    keys[key] = trimmed(comment ? value : value.substr(0, value.find('#')), kOuter);
  }
  return keys;
}

void parse(const std::string& where, std::string_view text, Snapshot& snapshot) {
  if (text.size() >= kMaxBytes)
    throw UsageError(where, ": larger than a parameter file may be (1 MB)");
  const auto keys = keys_of(where, text);
  const auto number = [&](const char* key, double smallest,
                          double largest =
                              std::numeric_limits<float>::max()) -> std::optional<double> {
    const auto found = keys.find(key);
    if (found == keys.end()) return std::nullopt;
    const std::string& value = found->second;
    const auto result = parse_whole<double>(value);
    if (!result || !(*result >= smallest && *result <= largest))
      throw UsageError(where, ": ", key, " is \"", value, "\"; it must be a number from ",
                       shortest(smallest), " to ", shortest(largest));
    return result;
  };
  if (number("bComove", 0).value_or(0) != 0)
    throw UsageError(where, ": bComove is not 0; cosmological simulations cannot be read");
  const auto kpc = number("dKpcUnit", kSmallestUnit, kLargestUnit);
  const auto msun = number("dMsolUnit", kSmallestUnit, kLargestUnit);
  if (kpc.has_value() != msun.has_value())
    throw UsageError(where,
                     ": dKpcUnit and dMsolUnit must be given together: one of them is missing");
  if (kpc) {
    snapshot.units = units_text(*kpc, *msun);
  } else if (const auto units = keys.find("units"); units != keys.end()) {
    check_text(where, "units", units->second);
    snapshot.units = units->second;
  }
  snapshot.softening = number("dSoft", 0).value_or(snapshot.softening);
  snapshot.dt = number("dDelta", -std::numeric_limits<float>::max()).value_or(snapshot.dt);
}

}  // namespace

// The units of run.00010 are in run.param; those of galaxy.tipsy and of galaxy are in galaxy.param.
fs::path tipsy_param_of(const fs::path& file) { return fs::path(file).replace_extension(".param"); }

void read_tipsy_param(const fs::path& file, Snapshot& snapshot) {
  const fs::path param = tipsy_param_of(file);
  std::error_code ignored;
  if (param == file || !fs::is_regular_file(param, ignored)) return;
  parse(param.string(), head_of(param), snapshot);
}

void check_tipsy_param(const fs::path& file, const Snapshot& snapshot) {
  const fs::path param = tipsy_param_of(file);
  std::error_code ignored;
  check_text(param, "units", snapshot.units);
  if (trimmed(snapshot.units, kOuter) != snapshot.units)
    throw UsageError(param, ": units must not begin or end with a quotation mark");
  if (param == file)
    throw UsageError(file, ": the extension .param is for the units of a Tipsy file; use another");
  if (fs::exists(param, ignored) && !head_of(param).starts_with(kMark))
    throw UsageError(param, " exists and was not written by this project; the units of ", file,
                     " would overwrite it: choose another name");
  require_writable(param);
}

void write_tipsy_param(std::ostream& out, const Snapshot& snapshot) {
  out << kMark << "\n";
  if (const auto units = units_of(snapshot.units))
    out << "dKpcUnit = " << shortest(units->kpc()) << "\ndMsolUnit = " << shortest(units->msun())
        << "\n";
  else if (!snapshot.units.empty())
    out << "# units = " << snapshot.units << "\n";
  out << "bComove = 0\nbPeriodic = 0\n";
  if (snapshot.softening > 0) out << "dSoft = " << shortest(snapshot.softening) << "\n";
  if (snapshot.dt != 0) out << "dDelta = " << shortest(snapshot.dt) << "\n";
}

}  // namespace nbody::formats
