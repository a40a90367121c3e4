#include "io/diagnostics_file.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "io/write_whole_file.h"
#include "nbody/error.h"
#include "physics/diagnostics.h"
#include "support/text.h"

namespace nbody {
namespace {

const std::string kHeader =
    "step,time,system,kinetic,potential,energy,energy_error,momentum_x,momentum_y,momentum_z,"
    "angular_momentum_x,angular_momentum_y,angular_momentum_z,virial_ratio,centre_x,centre_y,"
    "centre_z,r10,r25,r50,r75,r90,potential_error";
constexpr std::size_t kStep = 0, kSystem = 2, kEnergy = 5, kColumns = 23;

// A run adds up its time call by call, so the last digits of the time depend on how the run was
// divided into calls. Rounding to 12 digits removes this difference.
std::string time_text(double value) { return in_digits(value, 12); }

struct Row {
  long long step;
  int system;
  double energy;
};

std::optional<Row> parse_row(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  if (cells.size() != kColumns) return std::nullopt;
  const auto step = parse_whole<long long>(cells[kStep]);
  const auto system = parse_whole<int>(cells[kSystem]);
  const auto energy = parse_whole<double>(cells[kEnergy]);
  if (!step || !system || !energy) return std::nullopt;
  return Row{*step, *system, *energy};
}

// The part of a file that a resumed run keeps.
struct Kept {
  std::string lines;
  std::vector<double> first_energies;
};

// Keeps the states up to `last_step`. If the run was killed, the last row in the file may be
// incomplete.
Kept read_kept(const std::filesystem::path& file, int systems, long long last_step) {
  Kept kept;
  std::ifstream in(file, std::ios::binary);
  if (!in) return kept;
  std::string line, state;
  if (!std::getline(in, line) || line != kHeader) {
    throw UsageError(file, " is not a diagnostics file, so the run cannot append to it");
  }
  for (int number = 2, system = 0; std::getline(in, line) && !in.eof(); ++number) {
    const auto row = parse_row(line);
    if (!row || row->system != system) {
      throw UsageError(file, ":", number, ": not a row of a diagnostics file for ", systems,
                       " systems, so the run cannot append to the file");
    }
    if (row->step > last_step) break;
    state += line + '\n';
    if (kept.lines.empty()) kept.first_energies.push_back(row->energy);
    system = (system + 1) % systems;
    if (system == 0) {
      kept.lines += state;
      state.clear();
    }
  }
  if (kept.lines.empty()) kept.first_energies.clear();
  return kept;
}

struct State {
  Diagnostics diagnostics;
  Shape shape;
};

State state_of(const Snapshot& snapshot, int system, double budget) {
  const auto state = [&](auto bodies) {
    return State{diagnose(bodies, snapshot.softening, budget), shape_of(bodies)};
  };
  const auto bodies = snapshot.systems.system(system);
  if (snapshot.exact.empty()) return state(bodies);
  const auto first = static_cast<std::size_t>(system) * bodies.size();
  return state(std::span(snapshot.exact).subspan(first, bodies.size()));
}

std::string row_of(const Snapshot& snapshot, int system, const State& state, double first_energy) {
  const auto& [now, shape] = state;
  const double change = now.energy() - first_energy;
  std::string row =
      std::to_string(snapshot.step) + ',' + time_text(snapshot.time) + ',' + std::to_string(system);
  const auto add = [&row](double value) { row += ',' + shortest(value); };
  const auto add_vector = [&add](const Vector3& v) {
    for (const double value : {v.x, v.y, v.z}) add(value);
  };
  for (const double value : {now.kinetic, now.potential, now.energy()}) add(value);
  add(first_energy == 0 ? change : change / std::abs(first_energy));
  add_vector(now.momentum);
  add_vector(now.angular_momentum);
  add(now.virial_ratio());
  add_vector(shape.centre);
  for (const double radius : shape.lagrangian_radii) add(radius);
  add(now.potential_error);
  return row + '\n';
}

}  // namespace

DiagnosticsFile::DiagnosticsFile(const std::filesystem::path& file, int systems,
                                 std::optional<long long> last_kept_step, double budget)
    : file_(file), budget_(budget) {
  Kept kept;
  if (last_kept_step) kept = read_kept(file, systems, *last_kept_step);
  first_energies_ = kept.first_energies;
  write_whole_file(file_, [&](std::ostream& out) { out << kHeader << '\n' << kept.lines; });
}

void DiagnosticsFile::append(const Snapshot& snapshot) {
  const bool first = first_energies_.empty();
  std::string rows;
  for (int s = 0; s < snapshot.systems.count; ++s) {
    const State state = state_of(snapshot, s, budget_);
    if (first) first_energies_.push_back(state.diagnostics.energy());
    rows += row_of(snapshot, s, state, first_energies_[static_cast<std::size_t>(s)]);
  }
  append_to_file(file_, rows);
}

void require_continuable(const std::filesystem::path& file, int systems, long long last_kept_step) {
  read_kept(file, systems, last_kept_step);
}

}  // namespace nbody
