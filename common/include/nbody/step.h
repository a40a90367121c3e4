// The contract between a step's kernels and the code around them. Every step includes this file.
//
// A step defines
//   nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems);
// and a main() that passes it to step_main(). step_main does the rest: the command line, files,
// leapfrog's half drifts, snapshots, validation and the result record.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nbody/bodies.h"
#include "nbody/device.h"
#include "nbody/stopwatch.h"

namespace nbody {

// How a step that groups distant bodies approximates the direct sum.
struct Approximation {
  // The opening angle: a group acts as one body if its radius divided by its distance is below
  // theta. At theta = 0 no group acts as one body.
  float theta = 0;
  int multipole = 2;  // a group's highest moment: 0 = mass only, 2 = mass and quadrupole
  // Only for a step that opens nodes by their estimated errors: the limit on the first omitted term
  // of a node's multipole series, relative to the force on the body. At 0 every node is opened.
  std::optional<float> force_tolerance = {};
  // Only for a step that expands forces in Taylor series: the order of the acceleration.
  std::optional<int> order = {};
  // Time steps from one build of the tree to the next. In between, the nodes keep their bodies, and
  // only their moments are new. simulate() begins with a new tree. Empty: the step keeps no tree.
  std::optional<int> rebuild_every = 1;
};

// The design of a tree whose cells are ordered by Hilbert's curve. The validator builds the same
// tree (physics/validation/tree_reference.h).
struct TreeDesign {
  int leaf;   // a node with at most this many bodies is not split
  int group;  // number of consecutive bodies on the curve that share one list of nodes
};

template <class Real>
struct BasicRun {
  Real dt;                 // length of a time step
  int steps;               // kick-then-drift steps to take: v += a dt, then x += v dt
  Real softening_squared;  // eps^2 of a_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2)
  int devices;             // devices that the step may use; a step for one device uses the first
  Approximation approximation = {};  // only for steps that approximate
};
using Run = BasicRun<float>;
using RunF64 = BasicRun<double>;  // the run with --precision double

// One stage of one system, for the timeline of a step that overlaps stages. Times are in seconds on
// the host's steady clock.
enum class Stage { upload, compute, download };
struct Span {
  int device;
  int stream;
  int system;
  Stage stage;
  double begin;
  double end;
};

// Times in seconds. simulate() fills in the times of the three stages, measured with events on a
// device or with a steady clock on the CPU. If stages of different systems overlap, a stage's time
// is the time during which at least one system was in that stage, so the three times may add up to
// more than the total. step_main measures the total: wall-clock time of the whole call, including
// allocation and packing on the host.
struct Timing {
  double upload = 0;
  double compute = 0;
  double download = 0;
  double total = 0;
  // Number of bodies per system that exert forces, if massless bodies were left out; otherwise 0.
  int sources = 0;
  std::vector<Span> spans = {};  // empty if nothing overlaps
};

// Returns, for each stage, the time during which at least one system was in that stage.
Timing timing_of(std::vector<Span> spans);

// How a kernel sums the forces on a body; this determines the accuracy of the sum in float32.
enum class Summation {
  running,  // one sum over all N bodies, whose rounding error grows with sqrt(N)
  tiled     // one sum per tile, then the sum of these sums, whose error hardly depends on N
};

// Advances every system by run.steps time steps, in place.
using Simulate = Timing (*)(const Run&, Systems&);
using SimulateF64 = Timing (*)(const RunF64&, SystemsF64&);

// Runs two plain loops over all pairs in float64, on the CPU.
Timing simulate_float64(const RunF64& run, SystemsF64& systems);

struct StepInfo {
  const char* name;
  const char* parent = "";
  Summation summation = Summation::running;
  bool multi_device = false;
  bool cluster = false;                             // the step runs on several ranks (cluster.h)
  SimulateF64 float64 = nullptr;                    // simulate() in --precision double
  std::optional<Approximation> approximation = {};  // defaults of --theta, ...
  // The tree that the step builds, if it opens nodes by an angle, or would do so without a limit on
  // their errors.
  std::optional<TreeDesign> tree = {};
  int largest_group = 256;  // only for a step with series: the most bodies that share one
  // Sizes of blocks, tiles and chunks. Tests run with each of these numbers of bodies, and with one
  // body fewer and one more.
  std::vector<int> boundaries = {};
};

// Parses the command line, runs, validates and reports. Returns the exit code: 0 success, 1
// validation or run-time failure, 2 usage error, 77 no device.
int run_step(const StepInfo& info, Simulate simulate, QueryDevice query, int argc, char** argv);

// Returns the number in `text`. `text` equals `name` if no macro called `name` is defined; then the
// function returns `otherwise`.
consteval int parameter(std::string_view name, std::string_view text, int otherwise) {
  if (text == name) return otherwise;
  int value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') throw "the value of a parameter is a whole number";
    value = 10 * value + (digit - '0');
  }
  return value;
}
static_assert(parameter("SIZE", "SIZE", 512) == 512 && parameter("SIZE", "64", 512) == 64);

inline int step_main(const StepInfo& info, Simulate simulate, int argc, char** argv) {
  return run_step(info, simulate, query_device, argc, argv);
}

}  // namespace nbody

// A compile-time parameter of a kernel. The option -D name=... of the compiler replaces `value`, so
// that a sweep can compile the same file with other values.
#define TUNABLE(name, value) ::nbody::parameter(#name, NBODY_AS_TEXT(name), value)
#define NBODY_AS_TEXT(macro) #macro
