// What every step includes: the contract between a step's kernels and everything around them.
//
// A step defines
//   nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems);
// and a main() that hands it to step_main(). The command line, files, leapfrog's half drifts,
// snapshots, validation and the result record belong to step_main.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nbody/bodies.h"
#include "nbody/device.h"
#include "nbody/stopwatch.h"

namespace nbody {

// What a step that takes far bodies together computes instead of the direct sum.
struct Approximation {
  // The opening angle: a group of bodies of this radius, as seen from a distance of 1, is small
  // enough to act as a whole. 0: none is.
  float theta = 0;
  int multipole = 2;  // up to which moment it acts: 0, its mass; 2, its quadrupole too
  // For a step that compares the two: how large the first term that a node's moments neglect may
  // be, relative to the force on a body. 0: no node acts as a whole.
  std::optional<float> force_tolerance = {};
};

// A tree whose cells follow each other on Hilbert's curve, and how far it goes down: the validator
// builds the same one (physics/validation/tree_reference.h).
struct TreeDesign {
  int leaf;   // so many bodies are not divided
  int group;  // so many bodies, neighbours on the curve, take the same nodes
};

template <class Real>
struct BasicRun {
  Real dt;                 // length of a time step
  int steps;               // how many kick-then-drift steps to take: v += a dt, then x += v dt
  Real softening_squared;  // eps^2 of a_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2)
  int devices;             // how many may be used; a step for one device uses the first
  Approximation approximation = {};  // for a step that takes one
};
using Run = BasicRun<float>;
using RunF64 = BasicRun<double>;  // with --precision double

// One stage of one system, for the timeline of a step that overlaps them. Seconds on the host's
// steady clock.
enum class Stage { upload, compute, download };
struct Span {
  int device;
  int stream;
  int system;
  Stage stage;
  double begin;
  double end;
};

// Seconds. simulate() fills in the first three, measured with events on a device (a steady clock on
// the CPU). Where stages of different systems overlap, each is the time during which at least one
// system was in it, so that they may add up to more than the total.
// total is the wall clock around the whole call, allocation and packing on the host included;
// step_main measures it.
struct Timing {
  double upload = 0;
  double compute = 0;
  double download = 0;
  double total = 0;
  // Bodies of each system whose forces were computed, where those without mass were left out.
  int sources = 0;
  std::vector<Span> spans = {};  // empty where nothing overlaps
};

// The times during which at least one system was in each stage.
Timing timing_of(std::vector<Span> spans);

// How a kernel sums the forces on a body decides how accurate they are in float32.
enum class Summation {
  running,  // one sum over all N: its rounding error grows with sqrt(N)
  tiled     // a partial sum per tile, then the sum of those: nearly independent of N
};

// Advances every system by run.steps time steps, in place.
using Simulate = Timing (*)(const Run&, Systems&);
using SimulateF64 = Timing (*)(const RunF64&, SystemsF64&);

// Step 00's two loops in float64.
Timing simulate_float64(const RunF64& run, SystemsF64& systems);

struct StepInfo {
  const char* name;
  const char* parent = "";
  Summation summation = Summation::running;
  bool multi_device = false;
  bool cluster = false;                             // runs on several ranks (cluster.h)
  SimulateF64 float64 = nullptr;                    // takes --precision double
  std::optional<Approximation> approximation = {};  // takes --theta and --multipole; the default
  std::optional<TreeDesign> tree = {};  // of a step that builds such a tree and opens by the angle
  // Sizes of blocks, tiles and chunks: tests take as many bodies, one fewer and one more.
  std::vector<int> boundaries = {};
};

// Parses the command line, runs, validates, reports. Returns the exit code: 0 right, 1 validation
// or run-time failure, 2 usage, 77 no device.
int run_step(const StepInfo& info, Simulate simulate, QueryDevice query, int argc, char** argv);

// The number in `text`, or `otherwise` where the preprocessor left the name of the macro in it.
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

// A compile-time parameter of a kernel: `value`, or what the compiler was told with -D name=...; a
// sweep compiles the same file with other values.
#define TUNABLE(name, value) ::nbody::parameter(#name, NBODY_AS_TEXT(name), value)
#define NBODY_AS_TEXT(macro) #macro
