// Judges a submission that runs in another process and shares only two pipes with it.
//
//   grade_judge VERDICT MODE SUMMATION PROBLEM...
//
// Writes problems to the standard output, reads results from the standard input, and writes a line
// of JSON to the file VERDICT: {"problems": [{"checks": [...], "seconds": [...]}], "ended": "..."}.
// MODE is
//   checks   every check of the validator, on the whole trajectory
//   once    a single call, whose result is compared with float64, for submissions whose accesses
//           are traced
//   time    five timed calls after one untimed call, each with a different state; then the
//           validator checks some bodies of one of these calls
// SUMMATION is how the lab's step adds up forces: running or tiled. A PROBLEM is
// SYSTEMS,BODIES,STEPS,DEVICES,SEED,STAR; STAR is 0 or 1.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "channel.h"
#include "io/snapshot_file.h"
#include "nbody/stopwatch.h"
#include "physics/reference.h"
#include "physics/validation.h"
#include "scenarios/initial_conditions.h"
#include "scenarios/random.h"

namespace nbody::grading {
namespace {

constexpr double kSoftening = 0.05, kTimeStep = 0.01;
constexpr double kOnceLimit =
    1e-4;  // relative to the motion in a few steps; about a hundred times a rounding error
constexpr int kTimedCalls = 5;

// Masses of a star and of each body around it. One body's force is below the last digit of the
// star's force, but the sum of all bodies' forces is not.
constexpr float kStar = 1, kPlanetesimal = 5e-8f;

struct Problem {
  int systems, bodies, steps, devices;
  std::uint64_t seed;
  bool star;
};

struct NoAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Gives the bodies two masses in turn, so that step 12 has tiles in which all masses are equal.
void set_two_masses(Systems& systems) {
  for (int s = 0; s < systems.count; ++s) {
    const float mass = 0.5f / static_cast<float>(systems.bodies_per_system);
    bool is_heavy = false;
    for (Body& body : systems.system(s)) {
      body.mass = is_heavy ? 3 * mass : mass;
      is_heavy = !is_heavy;
    }
  }
}

// Returns spheres, cubes or clusters, depending on the seed. For two seeds out of three, all masses
// differ, and a tenth of the bodies have no mass; for the others, there are two masses.
Systems start_of(const Problem& problem) {
  constexpr const char* kScenarios[] = {"galaxies", "uniform", "star-cluster"};
  const char* const name =
      problem.star ? "uniform" : kScenarios[problem.seed % std::size(kScenarios)];
  Systems systems = make_scenario(find_scenario(name),
                                  {problem.systems, problem.bodies, problem.seed, kSoftening})
                        .systems;
  Random random(problem.seed, -1);
  for (Body& body : systems.bodies) {
    const bool massless = problem.bodies > 2 && random.uniform() < 0.1;
    body.mass = massless ? 0 : body.mass * static_cast<float>(random.uniform(0.5, 1.5));
    if (problem.star) body.mass = kPlanetesimal;
    body.x += 0.5f;  // otherwise a single body would stay at the origin
    body.vy += 0.25f;
  }
  for (int s = 0; s < systems.count && problem.star; ++s) systems.system(s)[0].mass = kStar;
  if (!problem.star && problem.seed / std::size(kScenarios) % 3 == 0) set_two_masses(systems);
  return systems;
}

// `length` multiplies the softening.
void ask(Systems& systems, double dt, int steps, int devices, double length = 1) {
  const double softening = kSoftening * length;
  const Request request{.systems = systems.count,
                        .bodies = systems.bodies_per_system,
                        .steps = steps,
                        .devices = devices,
                        .dt = static_cast<float>(dt),
                        .softening_squared = static_cast<float>(softening * softening)};
  const std::size_t bytes = systems.bodies.size() * sizeof(Body);
  Reply reply;
  if (!write_whole(STDOUT_FILENO, &request, sizeof request) ||
      !write_whole(STDOUT_FILENO, systems.bodies.data(), bytes) ||
      !read_whole(STDIN_FILENO, &reply, sizeof reply))
    throw NoAnswer("the program ended without an answer");
  if (reply.mark != kReplyMark || reply.bodies != systems.bodies.size())
    throw NoAnswer("the answer is not a state with the problem's number of bodies");
  if (!read_whole(STDIN_FILENO, systems.bodies.data(), bytes))
    throw NoAnswer("the program ended in the middle of its answer");
}

std::vector<Check> checks_of(const Problem& problem, Summation summation, const Systems& start,
                             const Systems& end, ValidationMode mode) {
  const Advance<float> advance = [&](Systems& systems, double dt, int steps) {
    ask(systems, dt, steps, problem.devices);
  };
  const Advance<float> rescaled = [&](Systems& systems, double dt, int steps) {
    ask(systems, dt, steps, problem.devices, kOtherLength);
  };
  const float dt = kTimeStep, softening_squared = kSoftening * kSoftening;
  return validate<float>({summation, dt, problem.steps, softening_squared, start, end}, mode,
                         advance, {.rescaled = rescaled})
      .checks;
}

std::vector<Check> all_checks(const Problem& problem, Summation summation) {
  const Systems start = start_of(problem);
  Systems end = start;
  ask(end, kTimeStep, problem.steps, problem.devices);
  return checks_of(problem, summation, start, end, ValidationMode::full);
}

// Checks the root mean square errors of positions and velocities, relative to their change.
std::vector<Check> check_of_end(const Problem& problem) {
  const Systems start = start_of(problem);
  Systems end = start;
  ask(end, kTimeStep, problem.steps, problem.devices);
  Check check{"end_of_run", 0, kOnceLimit};
  for (int s = 0; s < start.count; ++s) {
    ReferenceSystem reference(start.system(s));
    const float dt = kTimeStep, softening_squared = kSoftening * kSoftening;
    for (int step = 0; step < problem.steps; ++step) reference.advance(dt, softening_squared);
    double position = 0, velocity = 0, way = 0, change = 0;
    for (int i = 0; i < problem.bodies; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const Body &before = start.system(s)[k], &after = end.system(s)[k];
      const Vector3 x{after.x, after.y, after.z}, v{after.vx, after.vy, after.vz};
      const auto squared = [](const Vector3& a) { return dot(a, a); };
      position += squared(x - reference.position(i));
      velocity += squared(v - reference.velocity(i));
      way += squared(reference.position(i) - Vector3{before.x, before.y, before.z});
      change += squared(reference.velocity(i) - Vector3{before.vx, before.vy, before.vz});
    }
    check.keep_worse(relative_error(std::sqrt(position), std::sqrt(way)), kOnceLimit);
    check.keep_worse(relative_error(std::sqrt(velocity), std::sqrt(change)), kOnceLimit);
  }
  return {check};
}

// The result of one problem; `seconds` is empty in the modes that do not measure times.
struct Result {
  std::vector<double> seconds;
  std::vector<Check> checks;
};

// A submission could return the result of an earlier call, or leave out work in large problems.
// Therefore every call starts from a different state, and one call, which the seed chooses, is
// checked afterwards.
Result timed_calls(const Problem& problem, Summation summation) {
  const int checked = 1 + static_cast<int>(problem.seed % kTimedCalls);
  Result timed;
  Systems start_of_checked, end_of_checked;
  for (int call = 0; call <= kTimedCalls; ++call) {
    Problem of_call = problem;
    of_call.seed += static_cast<std::uint64_t>(call);
    Systems systems = start_of(of_call);
    if (call == checked) start_of_checked = systems;
    const Stopwatch watch;
    ask(systems, kTimeStep, problem.steps, problem.devices);
    if (call > 0) timed.seconds.push_back(watch.seconds());
    if (call == checked) end_of_checked = systems;
  }
  timed.checks =
      checks_of(problem, summation, start_of_checked, end_of_checked, ValidationMode::sampled);
  return timed;
}

// Writes NaN and infinity as null, because JSON has neither.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return std::isfinite(value) ? text : "null";
}

std::string json_of(const std::vector<Check>& checks, const std::vector<double>& seconds) {
  std::string text = "{\"checks\": [";
  for (const Check& check : checks) {
    if (&check != &checks.front()) text += ", ";
    text += "{\"name\": \"" + check.name + "\", \"value\": " + number(check.value) +
            ", \"limit\": " + number(check.limit) +
            ", \"failed\": " + (check.failed() ? "true" : "false") + "}";
  }
  text += "], \"seconds\": [";
  for (std::size_t k = 0; k < seconds.size(); ++k) text += (k > 0 ? ", " : "") + number(seconds[k]);
  return text + "]}";
}

Problem problem_of(const char* text) {
  Problem p{};
  unsigned long long seed = 0;
  int star = 0;
  if (std::sscanf(text, "%d,%d,%d,%d,%llu,%d", &p.systems, &p.bodies, &p.steps, &p.devices, &seed,
                  &star) != 6)
    throw std::invalid_argument(text);
  p.seed = seed;
  p.star = star != 0;
  return p;
}

int judge(const std::string& file, const std::string& mode, const std::string& summation, int count,
          char** problems) {
  std::string results, ended;
  try {
    for (int k = 0; k < count; ++k) {
      const Problem problem = problem_of(problems[k]);
      const Summation sums = summation == "tiled" ? Summation::tiled : Summation::running;
      Result result;
      if (mode == "checks")
        result.checks = all_checks(problem, sums);
      else if (mode == "once")
        result.checks = check_of_end(problem);
      else
        result = timed_calls(problem, sums);
      results += (k > 0 ? ", " : "") + json_of(result.checks, result.seconds);
    }
  } catch (const NoAnswer& error) {
    ended = error.what();
  }
  std::FILE* const verdict = std::fopen(file.c_str(), "w");
  if (verdict == nullptr) return 1;
  std::fprintf(verdict, "{\"problems\": [%s], \"ended\": \"%s\"}\n", results.c_str(),
               ended.c_str());
  return std::fclose(verdict) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace nbody::grading

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // writing to an ended submission does not end the judge
  if (argc < 5) return 2;
  return nbody::grading::judge(argv[1], argv[2], argv[3], argc - 4, argv + 4);
}
