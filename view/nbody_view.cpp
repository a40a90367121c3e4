// nbody-view -- shows files of bodies as an animation: serves them to a browser, or writes one page
// that needs neither a program nor a network.
//
// Run: nbody-view snapshot_*.bin   or   nbody-view snapshot_*.bin --export run.html
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "frame.h"
#include "io/gadget_hdf5/gadget.h"
#include "io/snapshot_file.h"
#include "io/write_whole_file.h"
#include "messages.h"
#include "nbody/error.h"
#include "page.h"
#include "physics/diagnostics.h"
#include "physics/integrator.h"
#include "run/command_line.h"
#include "run/program.h"
#include "run_control.h"
#include "scenarios/initial_conditions.h"
#include "server.h"

namespace {

using nbody::Snapshot;
using nbody::Systems;
using nbody::UsageError;

// Browsers give up on larger pages, and this program holds the page in memory.
constexpr std::size_t kMaxPageBytes = std::size_t{256} << 20;
// Energies are left out if computing them for all files takes more interactions than this.
constexpr double kMaxEnergyInteractions = 4e9;

struct Arguments {
  std::vector<std::string> files;
  std::string export_to;
  std::optional<int> port;
  std::vector<nbody::Species> species;
};

// Returns nothing after --help or --version.
std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  nbody::CommandLine line("nbody-view", "Shows files of bodies in a browser, as an animation.");
  line.words("FILE", arguments.files, "files of the same bodies, in chronological order");
  line.text("--export", arguments.export_to,
            "write a page that plays without this program, instead of serving it");
  line.whole("--port", arguments.port, 0, 65535,
             "port on 127.0.0.1 for the page; 0: any free port [8765]");
  line.species("--species", arguments.species, "bodies to show: dark,star [all]");
  if (!line.parse(argc, argv)) return std::nullopt;
  if (arguments.port && !arguments.export_to.empty())
    throw UsageError("--port and --export exclude each other");
  const std::string ending = std::filesystem::path(arguments.export_to).extension().string();
  if (!arguments.export_to.empty() && ending != ".html" && ending != ".htm")
    nbody::refuse("--export", arguments.export_to, "the name of a page must end in .html");
  return arguments;
}

Snapshot read_state(const std::string& file, const std::vector<nbody::Species>& species) {
  Snapshot snapshot =
      nbody::read_bodies(file, {.species = species, .formats = nbody::formats_with_gadget()});
  if (snapshot.staggered) nbody::drift(snapshot.systems, static_cast<float>(-snapshot.dt / 2));
  return snapshot;
}

// A BIN file contains no names of bodies. If it contains the name of a scenario, the bodies get the
// names that this scenario gives them.
std::vector<std::string> names_of(const Snapshot& snapshot) {
  if (!snapshot.names.empty()) return snapshot.names;
  for (const nbody::Scenario& scenario : nbody::scenarios())
    if (scenario.name == snapshot.scenario && scenario.fixed_bodies &&
        scenario.bodies == snapshot.systems.bodies_per_system)
      return nbody::make_scenario(scenario, {1, scenario.bodies, 1, scenario.softening}).names;
  return {};
}

std::string size_of(const Systems& systems) {
  return std::to_string(systems.count) + " x " + std::to_string(systems.bodies_per_system) +
         " bodies";
}

// The frames of an animation, all of which show the same bodies.
class Recording {
 public:
  explicit Recording(const Arguments& arguments) {
    const std::vector<std::string>& files = arguments.files;
    for (const std::string& file : files) {
      const Snapshot snapshot = read_state(file, arguments.species);
      if (frames_.empty()) begin(arguments, snapshot);
      add(file, files.front(), snapshot);
    }
  }

  std::string page() const {
    return nbody::view::recorded_page(nbody::view::info_message(info_, described_, *thinning_),
                                      frames_);
  }

 private:
  void begin(const Arguments& arguments, const Snapshot& first) {
    const std::vector<std::string>& files = arguments.files;
    described_ = first;
    thinning_.emplace(first.systems);
    if (described_.scenario.empty()) described_.scenario = files.front();
    described_.names = names_of(first);
    info_.program = files.size() == 1 ? "one state" : std::to_string(files.size()) + " states";
    const double pairs =
        static_cast<double>(first.systems.bodies.size()) * first.systems.bodies_per_system;
    knows_energy_ = first.softening > 0 && arguments.species.empty() &&
                    pairs * static_cast<double>(files.size()) <= kMaxEnergyInteractions;
    if (knows_energy_)
      start_energy_ = energy(first);
    else if (!arguments.species.empty())
      info_.no_energy = "not computed: the energy of only some bodies is not conserved";
    else if (first.softening > 0)
      info_.no_energy = "not computed: too many bodies and files";
    else
      info_.no_energy = "unknown: the file gives no softening";
  }

  void add(const std::string& file, const std::string& first_file, const Snapshot& snapshot) {
    const Systems& systems = snapshot.systems;
    if (systems.count != described_.systems.count ||
        systems.bodies_per_system != described_.systems.bodies_per_system) {
      throw UsageError(file + " has " + size_of(systems) + ", but " + first_file + " has " +
                       size_of(described_.systems) + "; all files must have the same size");
    }
    nbody::view::FrameHead head{.step = snapshot.step, .time = snapshot.time};
    head.number = frames_.size() + 1;
    if (knows_energy_)
      head.energy_error = (energy(snapshot) - start_energy_) / std::abs(start_energy_);
    frames_.push_back(nbody::view::encode_frame(head, systems, *thinning_));
    bytes_ += frames_.back().size();
    if (bytes_ > kMaxPageBytes) {
      throw UsageError("the first " + std::to_string(frames_.size()) + " files take " +
                       std::to_string(bytes_ >> 20) + " MiB, but a page holds at most " +
                       std::to_string(kMaxPageBytes >> 20) +
                       " MiB; pass every second file, or fewer");
    }
    info_.last_step = snapshot.step;
  }

  double energy(const Snapshot& snapshot) const {
    return nbody::diagnose(snapshot.systems, described_.softening, kMaxEnergyInteractions).energy();
  }

  Snapshot described_;
  std::optional<nbody::view::Thinning> thinning_;
  nbody::view::Info info_;
  std::vector<std::string> frames_;
  std::size_t bytes_ = 0;
  bool knows_energy_ = false;
  double start_energy_ = 0;
};

void serve(std::string page, int port) {
  nbody::view::RunControl control(1);
  const nbody::view::Server server(port, std::move(page), "",
                                   {.interrupted = [&] { control.stop(); }});
  server.print_address(std::cout);
  std::cout << "               until Ctrl-C\n" << std::flush;
  control.wait_for_stop();
}

void run(const Arguments& arguments) {
  std::vector<nbody::NamedFile> inputs, pages;
  for (const std::string& file : arguments.files) inputs.push_back({"FILE", file});
  if (!arguments.export_to.empty()) pages.push_back({"--export", arguments.export_to});
  const nbody::Outputs outputs(pages, inputs);
  std::string page = Recording(arguments).page();
  if (arguments.export_to.empty()) return serve(std::move(page), arguments.port.value_or(8765));
  nbody::write_whole_file(arguments.export_to, [&](std::ostream& out) { out << page; });
  std::cout << arguments.export_to << ": " << arguments.files.size() << " frames, "
            << (page.size() >> 10) << " KiB\n";
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::run_program("nbody-view", [&] {
    if (const auto arguments = parse(argc, argv)) run(*arguments);
    return nbody::kSuccess;
  });
}
