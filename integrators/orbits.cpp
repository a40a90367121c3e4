#include "orbits.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "io/write_whole_file.h"
#include "library/nbody.h"
#include "run/command_line.h"
#include "run/program.h"
#include "scenarios/initial_conditions.h"

namespace nbody::orbits {
namespace {

static_assert(sizeof(Vector3) == 3 * sizeof(double));
const double* numbers(const Vectors& vectors) { return &vectors.front().x; }
double* numbers(Vectors& vectors) { return &vectors.front().x; }

// Uses one thread if there are few interactions, because starting more threads would take longer
// than the sums.
nbody_options options_for(std::size_t interactions) {
  nbody_options options;
  nbody_default_options(&options, sizeof options);
  if (interactions < 100'000) options.threads = 1;
  return options;
}

void require(int result) {
  if (result == NBODY_OK) return;
  const bool flew_away = result == NBODY_BAD_POSITION || result == NBODY_BAD_VELOCITY;
  throw std::runtime_error(std::string(nbody_error_text(result)) +
                           (flew_away ? ": try shorter time steps" : ""));
}

}  // namespace

Vectors Gravity::accelerations(const System& bodies) {
  const std::size_t n = bodies.size();
  const nbody_options options = options_for(n * n);
  Vectors a(n);
  require(nbody_accelerations_f64(n, numbers(bodies.x), bodies.m.data(), 0, nullptr,
                                  bodies.softening, &options, numbers(a)));
  interactions_ += static_cast<long long>(n * n);
  return a;
}

Derivatives Gravity::derivatives(const System& bodies) {
  const std::size_t n = bodies.size();
  const nbody_options options = options_for(n * n);
  Derivatives found{Vectors(n), Vectors(n)};
  require(nbody_jerk_f64(n, numbers(bodies.x), numbers(bodies.v), bodies.m.data(), 0, nullptr,
                         nullptr, bodies.softening, &options, numbers(found.a), numbers(found.j)));
  interactions_ += static_cast<long long>(n * n);
  return found;
}

Derivatives Gravity::derivatives(const System& bodies, const std::vector<std::size_t>& active) {
  const std::size_t n = bodies.size(), targets = active.size();
  const nbody_options options = options_for(n * targets);
  Vectors x(targets), v(targets);
  for (std::size_t k = 0; k < targets; ++k) {
    x[k] = bodies.x[active[k]];
    v[k] = bodies.v[active[k]];
  }
  Derivatives found{Vectors(targets), Vectors(targets)};
  require(nbody_jerk_f64(n, numbers(bodies.x), numbers(bodies.v), bodies.m.data(), targets,
                         numbers(x), numbers(v), bodies.softening, &options, numbers(found.a),
                         numbers(found.j)));
  interactions_ += static_cast<long long>(n * targets);
  return found;
}

std::vector<double> Gravity::potentials(const System& bodies) {
  const nbody_options options = options_for(bodies.size() * bodies.size());
  std::vector<double> phi(bodies.size());
  require(nbody_potential_f64(bodies.size(), numbers(bodies.x), bodies.m.data(), 0, nullptr,
                              bodies.softening, &options, phi.data()));
  return phi;
}

long long equal_steps(double span, double dt) {
  const double steps = std::ceil(span / dt * (1 - 1e-14));  // so that a span of k dt needs k steps
  if (!(steps <= 1e12))
    refuse("--dt", shortest(dt), "at most 1e12 steps are allowed, but it needs ",
           in_digits(steps, 3));
  return std::max(1LL, static_cast<long long>(steps));
}

void refuse_short_step() {
  throw std::runtime_error(
      "the time step became too short to change the time, as happens in a collision");
}

namespace {

struct Arguments {
  std::string input, scenario, output, json;
  std::optional<double> time, accuracy, softening;
};

std::optional<Arguments> parse(const Integrator& integrator, int argc, char** argv) {
  Arguments arguments;
  CommandLine line(std::string(integrator.name), std::string(integrator.description));
  line.option("--input", "FILE", "file with the bodies to start from",
              [&](const std::string& file) { arguments.input = file; });
  line.option("--scenario", "NAME", "scenario to start from: " + scenario_names(),
              [&](const std::string& name) { arguments.scenario = name; });
  const auto positive = [&](const char* name, std::optional<double>& target, const char* help) {
    line.real(name, target, std::numeric_limits<float>::min(), "a number from 1.2e-38 to 3.4e38",
              help);
  };
  positive("--time", arguments.time, "how long to run, in units where G = 1");
  if (integrator.accuracy == "dt") {
    positive("--dt", arguments.accuracy, "time step; shortened so that --time is a multiple of it");
  } else {
    positive("--eta", arguments.accuracy,
             "accuracy: a step is sqrt(eta) times the time scale of the acceleration [0.01]");
  }
  line.real("--softening", arguments.softening, 0, "a number from 0 to 3.4e38",
            "softening length [0, even if the file has another one]");
  line.option("--output", "FILE", "final state (.csv and .bin keep float64)",
              [&](const std::string& file) { arguments.output = file; });
  line.option("--json", "FILE", "file to which one line with the result is appended",
              [&](const std::string& file) { arguments.json = file; });
  if (!line.parse(argc, argv)) return std::nullopt;
  if (arguments.input.empty() == arguments.scenario.empty())
    throw UsageError("give either --input FILE or --scenario NAME");
  if (!arguments.time) throw UsageError("--time is missing: it sets how long to run");
  if (!arguments.accuracy) {
    if (integrator.accuracy == "dt") throw UsageError("--dt is missing: it sets the time step");
    arguments.accuracy = 0.01;
  }
  return arguments;
}

Snapshot read(const Arguments& arguments) {
  Snapshot snapshot;
  if (!arguments.input.empty()) {
    snapshot = read_bodies(arguments.input, {.float64 = true});
  } else {
    const Scenario& scenario = find_scenario(arguments.scenario);
    snapshot = make_scenario(scenario, {.systems = 1,
                                        .bodies = scenario.bodies,
                                        .seed = 1,
                                        .softening = arguments.softening.value_or(1e-12),
                                        .float64 = true});
  }
  if (snapshot.systems.count != 1)
    throw UsageError(arguments.input, ": has ", snapshot.systems.count,
                     " systems; only one is allowed here");
  if (snapshot.staggered)
    throw UsageError(arguments.input, ": is a checkpoint in the middle of a leapfrog step");
  snapshot.softening = arguments.softening.value_or(0);
  return snapshot;
}

System system_of(const Snapshot& snapshot) {
  System bodies;
  bodies.softening = snapshot.softening;
  for (const BodyF64& body : snapshot.exact) {
    bodies.x.push_back(position(body));
    bodies.v.push_back(velocity(body));
    bodies.m.push_back(body.mass);
  }
  return bodies;
}

double energy(const System& bodies) {
  const std::vector<double> phi = Gravity::potentials(bodies);
  long double sum = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    sum += 0.5L * bodies.m[i] * (dot(bodies.v[i], bodies.v[i]) + phi[i]);
  return static_cast<double>(sum);
}

void write(const std::string& file, const System& bodies, double time, Snapshot snapshot) {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Vector3 &x = bodies.x[i], &v = bodies.v[i];
    snapshot.exact[i] = {x.x, x.y, x.z, v.x, v.y, v.z, bodies.m[i]};
    snapshot.systems.bodies[i] = rounded(snapshot.exact[i]);
  }
  snapshot.time += time;
  snapshot.dt = 0;
  snapshot.checkpoint.clear();
  write_bodies(file, snapshot);
}

// Locks the output until the run has ended. Throws UsageError unless the output and the record can
// be written, and the output is neither the record nor a file that was read.
Outputs outputs_of(const Arguments& arguments, const Snapshot& start) {
  if (!arguments.json.empty()) require_writable(arguments.json);
  if (arguments.output.empty()) return Outputs({}, {});
  const FileFormat format = format_for_writing(arguments.output, basic_formats());
  require_can_write(arguments.output, start, format);
  std::vector<NamedFile> others;
  for (const auto& file : start.sources) others.push_back({"--input", file});
  if (!arguments.json.empty()) others.push_back({"--json", arguments.json});
  return Outputs(files_written("--output", arguments.output, format), others);
}

int run(const Integrator& integrator, const Arguments& arguments) {
  const Snapshot start = read(arguments);
  const Outputs outputs = outputs_of(arguments, start);
  System bodies = system_of(start);
  const double before = energy(bodies);
  Gravity gravity;
  const auto clock = std::chrono::steady_clock::now();
  const Steps steps = integrator.integrate(bodies, gravity, *arguments.time, *arguments.accuracy);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - clock;
  const double change = std::abs(energy(bodies) - before);
  const double error = before != 0 ? change / std::abs(before) : change;
  if (!std::isfinite(error)) throw std::runtime_error("the energy is no longer finite");

  std::cout << integrator.name << ": " << bodies.size() << " bodies, time " << *arguments.time
            << ", " << integrator.accuracy << ' ' << *arguments.accuracy << ", softening "
            << bodies.softening << '\n'
            << "  steps         " << steps.count << ", from " << steps.least << " to " << steps.most
            << '\n'
            << "  interactions  " << gravity.interactions() << '\n'
            << "  time          " << seconds.count() << " s\n"
            << "  energy error  " << error << '\n';
  if (!arguments.output.empty()) write(arguments.output, bodies, *arguments.time, start);
  if (!arguments.json.empty()) {
    std::ofstream json(arguments.json, std::ios::app);
    json << "{\"integrator\": \"" << integrator.name << "\", \"" << integrator.accuracy
         << "\": " << shortest(*arguments.accuracy) << ", \"time\": " << shortest(*arguments.time)
         << ", \"steps\": " << steps.count << ", \"interactions\": " << gravity.interactions()
         << ", \"seconds\": " << shortest(seconds.count())
         << ", \"energy_error\": " << shortest(error) << "}\n";
    if (!json.flush()) throw std::runtime_error(arguments.json + ": cannot be written");
  }
  return kSuccess;
}

}  // namespace

int run(const Integrator& integrator, int argc, char** argv) {
  return run_program(integrator.name, [&] {
    const auto arguments = parse(integrator, argc, argv);
    return arguments ? run(integrator, *arguments) : kSuccess;
  });
}

}  // namespace nbody::orbits
