// The result record: one line of JSON per run, from which all tables and figures are made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/snapshot_file.h"
#include "nbody/cluster.h"
#include "nbody/step.h"
#include "nbody/tuning.h"
#include "physics/force_error.h"
#include "physics/validation.h"
#include "physics/validation/plausibility.h"
#include "support/platform.h"

namespace nbody {

struct Result {
  StepInfo info;
  Platform platform;
  int devices = 1;
  int systems = 0;
  int bodies_per_system = 0;
  int steps = 0;  // steps that this run took; not those before the checkpoint
  double dt = 0;
  double softening = 0;
  Integrator integrator = Integrator::euler;
  std::string scenario;                        // name of the scenario, or of the input file
  std::string precision = "single";            // "single" or "double"
  std::optional<Approximation> approximation;  // if the step uses one
  std::vector<Timing> repeats;                 // seconds
  std::string shape_origin;  // "rule", "tuned on DEVICE, DATE"; empty: there was no choice
  ChosenShape shape;
  Ranks ranks;
  std::optional<Validation> validation;
  std::optional<Plausibility> physics;
  std::optional<ForceError> force_error;

  // Returns "pass", "fail", "unchecked", or "partial" if the run was too long to repeat. Even if it
  // is "pass", some checks may be undecided; Validation::open() lists them.
  std::string verdict() const;
};

// Return, for each component of Timing, the median and the interquartile range over the repeats.
// The range over a single repeat is 0.
Timing median(const std::vector<Timing>& repeats);
Timing interquartile_range(const std::vector<Timing>& repeats);

// Returns the number of bodies per system that exert forces, as counted by the step.
int sources(const Result& result);

// Counts N^2 interactions per system and time step, even for a kernel that computes fewer because
// of symmetry. If a kernel leaves out massless bodies, counts N times the number of bodies with
// mass.
double interactions(const Result& result);

// Returns the spans of the last run as CSV: device,stream,system,stage,begin,end; times are in
// seconds since the first span began.
std::string to_csv(const std::vector<Span>& spans);

// Returns the record as one line, without the newline. docs/result_record.md explains its keys.
std::string to_json(const Result& result);

}  // namespace nbody
