// nbody-ic NAME OUT: writes named initial conditions to a file of any format.
#include <iostream>
#include <limits>
#include <sstream>

#include "io/gadget_hdf5/gadget.h"
#include "io/write_whole_file.h"
#include "nbody/error.h"
#include "physics/diagnostics.h"
#include "run/command_line.h"
#include "run/program.h"
#include "scenarios/initial_conditions.h"
#include "support/text.h"

namespace nbody::ic {
namespace {

struct Arguments {
  const Scenario* scenario = nullptr;
  ScenarioSize size{};
  std::string out;
};

template <class Value>
std::string with_default(std::string_view help, Value value) {
  std::ostringstream text;
  text << help << " [" << value << "]";
  return text.str();
}

void real(CommandLine& line, const Parameter& parameter, const std::function<void(double)>& take) {
  const std::string option = "--" + std::string(parameter.name);
  std::ostringstream allowed;
  allowed << "a number from " << parameter.low << " to " << parameter.high;
  line.option(option, "X", with_default(parameter.description, parameter.value),
              [=, low = parameter.low, high = parameter.high,
               rule = allowed.str()](const std::string& text) {
                const auto value = parse_whole<double>(text);
                if (!value || !(*value >= low && *value <= high)) refuse(option, text, rule);
                take(*value);
              });
}

// Parses the arguments after the scenario's name: OUT and this scenario's options.
bool parse_scenario(const Scenario& scenario, int argc, char** argv, Arguments& arguments) {
  constexpr int most = std::numeric_limits<int>::max();
  ScenarioSize& size = arguments.size;
  size = {scenario.systems, scenario.bodies, 1, scenario.softening};
  arguments.scenario = &scenario;
  CommandLine line("nbody-ic " + std::string(scenario.name), std::string(scenario.description));
  line.word("OUT", arguments.out, "file to write: .csv .bin .raw .tipsy .hdf5");
  if (!scenario.fixed_bodies) {
    line.whole("--bodies", size.bodies, 1, most,
               with_default("bodies of each system", scenario.bodies));
    line.seed("--seed", size.seed, "seed of the random numbers [1]");
  }
  line.whole("--systems", size.systems, 1, most,
             with_default("independent systems", scenario.systems));
  real(line,
       {"softening",
        "softening length, stored in the file; with it, spheres and halos are in equilibrium",
        scenario.softening, 1e-12, std::numeric_limits<float>::max()},
       [&](double value) { size.softening = value; });
  for (const Parameter& parameter : scenario.parameters)
    real(line, parameter,
         [&](double value) { size.parameters[std::string(parameter.name)] = value; });
  line.choice<bool>("--precision", size.float64, {{"single", false}, {"double", true}},
                    "precision of the file's numbers; double needs .csv, .bin or .hdf5 [single]");
  return line.parse(argc, argv);
}

// Returns false after --help or --version.
bool parse(int argc, char** argv, Arguments& arguments) {
  if (argc > 1 && argv[1][0] != '-')
    return parse_scenario(find_scenario(argv[1]), argc - 1, argv + 1, arguments);
  std::string description =
      "Writes initial conditions to a file. nbody-ic NAME --help lists a scenario's options.\n";
  for (const Scenario& scenario : scenarios()) {
    std::string name(scenario.name);
    name.resize(16, ' ');
    description += "\n  " + name + std::string(scenario.description);
  }
  CommandLine line("nbody-ic", description);
  std::string name;
  line.word("NAME", name, "the scenario");
  line.word("OUT", arguments.out, "file to write: .csv .bin .raw .tipsy .hdf5");
  if (!line.parse(argc, argv)) return false;
  throw UsageError("the scenario comes first: nbody-ic NAME OUT");
}

void print_summary(std::ostream& out, const Snapshot& snapshot) {
  const std::span<const Body> bodies = snapshot.systems.system(0);
  const Diagnostics sums = diagnose(bodies, snapshot.softening);
  double mass = 0;
  for (const Body& body : bodies) mass += body.mass;
  const auto vector = [&](const char* name, const Vector3& v) {
    out << "  " << name << v.x << ", " << v.y << ", " << v.z << '\n';
  };
  out << "  bodies       " << snapshot.systems.count << " x " << bodies.size() << ", units "
      << snapshot.units << ", softening " << snapshot.softening << '\n';
  if (snapshot.systems.count > 1) out << "  of the first system:\n";
  out << "  mass         " << mass << '\n'
      << "  energy       " << sums.energy() << " = T + W, T " << sums.kinetic << ", W "
      << sums.potential
      << (sums.potential_is_sampled()
              ? " (standard error " + in_digits(sums.potential_error, 2) + ")"
              : "")
      << '\n'
      << "  virial       2T/|W| = " << sums.virial_ratio() << '\n';
  vector("centre       ", shape_of(bodies).centre);
  vector("velocity     ", (1 / mass) * sums.momentum);
}

void run(const Arguments& arguments) {
  const FileFormat format = format_for_writing(arguments.out, formats_with_gadget());
  if (arguments.size.float64 && !format.keeps.float64)
    refuse("--precision", "double", arguments.out + " can hold only float32");
  const Outputs outputs(files_written("OUT", arguments.out, format), {});
  const Snapshot snapshot = make_scenario(*arguments.scenario, arguments.size);
  write_bodies(arguments.out, snapshot, format);
  std::ostream& out = arguments.out == "/dev/stdout" ? std::cerr : std::cout;
  out << "wrote " << arguments.out << ": " << snapshot.scenario << '\n';
  print_summary(out, snapshot);
}

}  // namespace
}  // namespace nbody::ic

int main(int argc, char** argv) {
  return nbody::run_program("nbody-ic", [&] {
    nbody::ic::Arguments arguments;
    if (nbody::ic::parse(argc, argv, arguments)) nbody::ic::run(arguments);
    return nbody::kSuccess;
  });
}
