// CSV: lines `# key=value` (other lines that begin with # are comments), a line with the column
// names, then one line per body. A file with a line `# bodies=N` ends in a line `# crc32=XXXXXXXX`:
// zlib's checksum of all lines before it, each without trailing blanks and followed by \n. Numbers
// are read and written independently of the locale, so they have decimal points even if the user's
// locale has decimal commas.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ostream>
#include <vector>

#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/crc32.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

enum Column : std::size_t { kX, kY, kZ, kVx, kVy, kVz, kMass, kName, kSpecies, kId, kSkipped };
constexpr std::array<std::string_view, kSkipped> kNames{"x",  "y", "z",    "vx",      "vy",
                                                        "vz", "m", "name", "species", "id"};

// Returns the separator. Other programs' tables may use any of these separators (' ' stands for
// blanks and tabs); ours use commas.
char separator_of(std::string_view line) {
  for (const char separator : {',', ';'})
    if (line.find(separator) != std::string_view::npos) return separator;
  return ' ';
}

void split(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  for (;;) {
    const auto end = separator == ' ' ? line.find_first_of(" \t") : line.find(separator);
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
    if (separator == ' ') line = trimmed(line);
  }
}

// from_chars accepts no plus sign, but many programs write one.
std::string_view without_plus(std::string_view field) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  return field;
}

constexpr std::string_view kDigestKey = "# crc32=";
constexpr std::string_view kCheckpointKey = "checkpoint-";

std::string hexadecimal_of(std::uint32_t value) { return format("%08x", value); }

void check_name(const std::string& file, const std::string& name) {
  // The reader would split or trim this name, take its row for a comment, or reject the file.
  if (name.find_first_of(",\r\n") != std::string::npos || name.starts_with('#') ||
      trimmed(name) != name || !is_text(name, Cut::nowhere))
    throw UsageError(file, ": the name \"", name,
                     "\" cannot be written as CSV: commas, line ends, control characters, outer "
                     "spaces and a leading # are not allowed");
}

class Reader {
 public:
  Reader(const std::string& file, std::string_view text, const ReadOptions& options)
      : file_(file), rest_(text), float64_(options.float64) {
    if (!options.columns.empty()) read_columns("--columns", options.columns);
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  Contents read() {
    contents_.snapshot.format = "CSV";
    std::string_view line;
    while (next_line(line)) {
      if (digest_seen_ && !line.empty()) fail("nothing may follow the line with the checksum");
      if (line.starts_with(kDigestKey)) {
        check_digest(line.substr(kDigestKey.size()));
        continue;
      }
      digest_.add(line);
      digest_.add("\n");
      if (line.empty()) continue;
      if (line.front() == '#') {
        if (contents_.bodies.empty()) read_key(trimmed(line.substr(1)));
      } else if (columns_.empty()) {
        separator_ = separator_of(line);
        read_columns(where(), line);
      } else {
        if (separator_ == kUnknown) separator_ = separator_of(line);
        contents_.bodies.push_back(read_body(line));
      }
    }
    if (columns_.empty()) throw UsageError(file_, no_columns());
    check_count();
    return std::move(contents_);
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... message) const {
    throw UsageError(where(), ": ", message...);
  }
  std::string where() const { return file_ + ":" + std::to_string(line_number_); }

  bool next_line(std::string_view& line) {
    if (rest_.empty()) return false;
    const auto end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = trimmed(line);
    ++line_number_;
    for (const char c : line)
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
        fail("the line has a control character; lines end in LF or CRLF");
    if (!is_text(line, Cut::nowhere)) fail("the line is not UTF-8");
    return true;
  }

  void check_digest(std::string_view hexadecimal) {
    digest_seen_ = true;
    if (hexadecimal != hexadecimal_of(digest_.value()))
      fail("the checksum does not match the lines above: the file is damaged, or was edited by ",
           "hand (then remove this line and the one with bodies=)");
  }

  // Without these checks, a truncated file would silently lose bodies, or digits of the last one.
  void check_count() const {
    const auto rows = static_cast<long long>(contents_.bodies.size());
    if (rows != bodies_.value_or(rows))
      throw UsageError(file_, ": damaged: it has ", rows, " bodies instead of ", *bodies_);
    if (!digest_seen_ && (bodies_ || !contents_.snapshot.checkpoint.empty()))
      throw UsageError(file_, ": damaged: the line with the checksum is missing at its end ",
                       "(if you removed it, also remove the one with bodies=)");
  }

  double number(std::string_view key, std::string_view value) const {
    const auto result = parse_whole<double>(without_plus(value));
    if (!result || !std::isfinite(*result))
      fail(key, " is \"", value, "\"; it must be a finite number");
    return *result;
  }

  template <typename T>
  T integer(std::string_view key, std::string_view value, T smallest) const {
    const auto result = parse_whole<T>(without_plus(value));
    if (!result || *result < smallest)
      fail(key, " is \"", value, "\"; it must be an integer of at least ", smallest);
    return *result;
  }

  void read_key(std::string_view comment) {
    const auto equals = comment.find('=');
    if (equals == std::string_view::npos) return;
    Snapshot& snapshot = contents_.snapshot;
    const std::string_view key = trimmed(comment.substr(0, equals));
    const std::string_view value = trimmed(comment.substr(equals + 1));
    if (key == "time") {
      snapshot.time = number(key, value);
    } else if (key == "step") {
      snapshot.step = integer<long long>(key, value, 0);
    } else if (key == "G") {
      if (number(key, value) != 1.0) fail("G is ", value, "; only units where G = 1 can be read");
    } else if (key == "softening") {
      snapshot.softening = number(key, value);
      if (snapshot.softening < 0) fail("the softening is negative");
    } else if (key == "dt") {
      snapshot.dt = number(key, value);
    } else if (key == "integrator") {
      if (value != "euler" && value != "leapfrog")
        fail("integrator is \"", value, "\"; it must be euler or leapfrog");
      snapshot.integrator = value == "euler" ? Integrator::euler : Integrator::leapfrog;
    } else if (key == "staggered") {
      if (value != "0" && value != "1") fail("staggered is \"", value, "\"; it must be 0 or 1");
      snapshot.staggered = value == "1";
    } else if (key == "systems") {
      contents_.systems = integer<int>(key, value, 1);
    } else if (key == "bodies") {
      bodies_ = integer<long long>(key, value, 1);
    } else if (key.starts_with(kCheckpointKey)) {
      snapshot.checkpoint.merge(
          parse_checkpoint(where(), joined(key.substr(kCheckpointKey.size()), "=", value, "\n")));
    } else if (key == "scenario" || key == "units") {
      check_text(where(), key, value);
      (key == "scenario" ? snapshot.scenario : snapshot.units) = value;
    } else {
      return;  // a comment that happens to contain an equals sign
    }
    if (std::find(keys_seen_.begin(), keys_seen_.end(), key) != keys_seen_.end())
      fail(key, " is given twice");
    keys_seen_.push_back(key);
  }

  std::string no_columns() const {
    return ": there is no header line with column names; nbody-convert " + file_ +
           " bodies.csv --columns m,x,y,z,vx,vy,vz reads such a table";
  }

  void read_columns(const std::string& where, std::string_view line) {
    const auto fail = [&](const auto&... message) { throw UsageError(where, ": ", message...); };
    split(line, separator_of(line), fields_);
    if (parse_whole<double>(without_plus(fields_[0]))) throw UsageError(where, no_columns());
    for (const std::string_view field : fields_) {
      const auto known = std::ranges::find(kNames, field == "mass" ? "m" : field) - kNames.begin();
      const Column column = field == "-" ? kSkipped : static_cast<Column>(known);
      if (column == kSkipped && field != "-")
        fail("unknown column \"", field,
             "\"; known: x, y, z, vx, vy, vz, m (or mass), name, species, id");
      if (column != kSkipped && has(column)) fail("column ", field, " is given twice");
      columns_.push_back(column);
    }
    for (const Column required : {kX, kY, kVx, kVy})
      if (!has(required))
        fail("column ", kNames[required], " is missing; x, y, vx and vy are required");
  }
  bool has(Column column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
  }

  // Returns the body in a row, and also stores its float64 values if they were requested.
  Body read_body(std::string_view line) {
    split(line, separator_, fields_);
    if (fields_.size() != columns_.size())
      fail(fields_.size(), " values in a row; the header has ", columns_.size(), " columns");
    if (!float64_) return read_row<float>();
    contents_.exact.push_back(read_row<double>());
    return rounded(contents_.exact.back());
  }

  template <typename Real>
  BasicBody<Real> read_row() {
    std::array<Real, kMass + 1> values{0, 0, 0, 0, 0, 0, 1};
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Column column = columns_[i];
      if (column == kName) {
        contents_.names.emplace_back(fields_[i]);
        check_name(where(), contents_.names.back());
      }
      if (column == kSpecies) contents_.species.push_back(read_species(fields_[i]));
      // The reader ignores an id, because the order of the rows is the order of the bodies.
      if (column <= kMass) values[column] = read_value<Real>(column, fields_[i]);
    }
    return std::bit_cast<BasicBody<Real>>(values);
  }

  template <typename Real>
  Real read_value(Column column, std::string_view field) const {
    std::errc error{};
    const auto parsed = parse_whole<Real>(without_plus(field), error);
    const Real value = parsed.value_or(0);
    const auto refuse = [&](const char* rule) {
      fail(kNames[column], " is \"", field, "\"; ", rule);
    };
    // A float64 value may round to zero in float32, but must not become infinite.
    const bool too_large = std::isfinite(value) && std::isinf(static_cast<float>(value));
    if (error == std::errc::result_out_of_range || too_large)
      refuse("a float32 holds 0 and 1.4e-45 to 3.4e+38");
    if (!parsed || !std::isfinite(value)) refuse("every value must be a finite number");
    if (column == kMass && value < 0) refuse("a mass must not be negative");
    return value;
  }

  Species read_species(std::string_view field) const {
    const auto species = species_of(field);
    if (!species) fail("species is \"", field, "\"; known: ", listed(kSpeciesNames));
    return *species;
  }

  const std::string& file_;
  std::string_view rest_;
  const bool float64_;
  long long line_number_ = 0;
  Contents contents_;
  std::optional<long long> bodies_;  // number of bodies, if the file gives it
  Crc32 digest_;
  bool digest_seen_ = false;
  std::vector<std::string_view> keys_seen_;
  std::vector<Column> columns_;  // in the order of the file; empty until its header line is read
  static constexpr char kUnknown = '\0';
  char separator_ = kUnknown;  // from the header line or, without one, from the first row
  std::vector<std::string_view> fields_;
};

// Writes enough digits to restore every bit.
std::string all_digits(float value) { return in_digits(value, 9); }
std::string all_digits(double value) { return in_digits(value, 17); }

template <typename AnyBody>
void append_numbers(std::string& text, const AnyBody& body) {
  for (const auto value : {body.mass, body.x, body.y, body.z, body.vx, body.vy, body.vz})
    text += ',' + all_digits(value);
  text += '\n';
}

bool is_csv(std::string_view head) { return is_text(head, Cut::anywhere); }

Contents read_csv(const std::string& file, std::string_view text, const ReadOptions& options) {
  return Reader(file, text, options).read();
}

void check_csv(const std::string& file, const Snapshot& snapshot) {
  check_text(file, "scenario", snapshot.scenario);
  check_text(file, "units", snapshot.units);
  for (const std::string& name : snapshot.names) check_name(file, name);
}

void write_csv(std::ostream& out, const std::string&, const Snapshot& snapshot) {
  std::string text;
  Crc32 digest;
  const auto flush = [&] {
    digest.add(text);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  };
  const auto key = [&](std::string_view name, const auto& value) {
    text += joined("# ", name, "=", value, "\n");
  };
  key("time", all_digits(snapshot.time));
  key("step", snapshot.step);
  key("G", 1);
  key("softening", all_digits(snapshot.softening));
  key("dt", all_digits(snapshot.dt));
  key("integrator", to_string(snapshot.integrator));
  key("staggered", snapshot.staggered ? 1 : 0);
  key("systems", snapshot.systems.count);
  key("bodies", snapshot.systems.bodies.size());
  key("scenario", snapshot.scenario);
  key("units", snapshot.units);
  for (const auto& [name, value] : snapshot.checkpoint) key(joined(kCheckpointKey, name), value);
  text += snapshot.names.empty() ? "id" : "name";
  if (!snapshot.species.empty()) text += ",species";
  text += ",m,x,y,z,vx,vy,vz\n";

  const auto bodies = static_cast<std::size_t>(snapshot.systems.bodies_per_system);
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i) {
    text += snapshot.names.empty() ? std::to_string(i) : snapshot.names[i % bodies];
    if (!snapshot.species.empty()) text += joined(",", to_string(snapshot.species[i]));
    if (snapshot.exact.empty())
      append_numbers(text, snapshot.systems.bodies[i]);
    else
      append_numbers(text, snapshot.exact[i]);
    if (text.size() > 1 << 20) flush();
  }
  flush();
  out << kDigestKey << hexadecimal_of(digest.value()) << '\n';
}

}  // namespace

const FileFormat kCsv{.name = "csv",
                      .title = "CSV",
                      .ending = ".csv",
                      .unlike = "not CSV (it is not text)",
                      .recognise = is_csv,
                      .read = read_csv,
                      .check = check_csv,
                      .write = write_csv,
                      .has_columns = true,
                      .keeps = everything_but()};

}  // namespace nbody::formats
