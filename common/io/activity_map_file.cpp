#include "io/activity_map_file.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "io/snapshot_file.h"
#include "io/write_whole_file.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody {
namespace {

void write_csv(std::ostream& out, const ActivityMap& map) {
  out << "# share of all positions in each cell; first line: highest y, first value: lowest x\n"
      << "# cells=" << map.cells() << "\n# extent=" << shortest(map.extent())
      << "\n# positions=" << map.positions() << '\n';
  for (int row = map.cells() - 1; row >= 0; --row) {
    for (int column = 0; column < map.cells(); ++column) {
      out << (column > 0 ? "," : "") << shortest(map.share(column, row));
    }
    out << '\n';
  }
}

void write_pgm(std::ostream& out, const ActivityMap& map) {
  const std::uint64_t highest = std::max(std::uint64_t{1}, std::ranges::max(map.counts()));
  const double white = std::log1p(static_cast<double>(highest));
  out << "P5\n" << map.cells() << ' ' << map.cells() << "\n255\n";
  for (int row = map.cells() - 1; row >= 0; --row)
    for (int column = 0; column < map.cells(); ++column) {
      const double grey = std::log1p(static_cast<double>(map.count(column, row))) / white;
      out.put(static_cast<char>(std::lround(255 * grey)));
    }
}

}  // namespace

std::filesystem::path activity_csv(const std::filesystem::path& name) {
  return name.string() + ".csv";
}
std::filesystem::path activity_pgm(const std::filesystem::path& name) {
  return name.string() + ".pgm";
}

std::string counts_text(const ActivityMap& map) {
  std::string text = std::to_string(map.positions());
  for (std::size_t k = 0; k < map.counts().size(); ++k)
    if (map.counts()[k] > 0) text += joined(" ", k, ":", map.counts()[k]);
  return text;
}

ActivityMap map_of_counts(const std::string& file, int cells, float extent, std::string_view text) {
  const auto next_number = [&](char before) {
    if (!text.starts_with(before)) throw UsageError(file, ": its activity map is damaged");
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find_first_of(" :"));
    text.remove_prefix(word.size());
    const auto number = parse_whole<std::uint64_t>(word);
    if (!number) throw UsageError(file, ": its activity map is damaged");
    return *number;
  };
  const auto side = static_cast<std::size_t>(cells);
  std::vector<std::uint64_t> counts(side * side);
  const std::uint64_t positions = next_number(' ');
  while (!text.empty()) {
    const std::uint64_t index = next_number(' ');
    if (index >= counts.size()) throw UsageError(file, ": its activity map has too many cells");
    counts[index] = next_number(':');
  }
  return {cells, extent, positions, std::move(counts)};
}

void write_activity_map(const std::filesystem::path& name, const ActivityMap& map) {
  write_whole_file(activity_csv(name), [&](std::ostream& out) { write_csv(out, map); });
  write_whole_file(activity_pgm(name), [&](std::ostream& out) { write_pgm(out, map); });
}

}  // namespace nbody
