#include "run/result.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "run/program.h"
#include "support/text.h"

namespace nbody {
namespace {

// Keys keep the order in which they are written, because people also read the record.
using Json = nlohmann::ordered_json;

constexpr double Timing::*kParts[] = {&Timing::upload, &Timing::compute, &Timing::download,
                                      &Timing::total};

// Interpolates linearly between the two nearest ranks (type 7 of Hyndman & Fan 1996, numpy's
// default).
double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (rank - static_cast<double>(below)) * (values[above] - values[below]);
}

Timing quantile(const std::vector<Timing>& repeats, double q) {
  Timing result;
  for (const auto part : kParts) {
    std::vector<double> values;
    for (const Timing& timing : repeats) values.push_back(timing.*part);
    result.*part = quantile(std::move(values), q);
  }
  return result;
}

Json json_of(const Timing& timing) {
  return {{"upload", timing.upload},
          {"compute", timing.compute},
          {"download", timing.download},
          {"total", timing.total}};
}

// Returns null if there were no shapes to choose from.
Json json_of_shape(const Result& result) {
  if (result.shape_origin.empty()) return {};
  const ChosenShape& shape = result.shape;
  return {{"from", result.shape_origin},
          {"rank", shape.rank},
          {"of", shape.of},
          {"blocks", shape.blocks},
          {"slots", shape.slots}};
}

// Returns null for a direct sum.
Json json_of(const std::optional<Approximation>& approximation) {
  if (!approximation) return {};
  // Writes the number with the digits of the command line. A conversion from float32 to float64
  // would add further digits.
  Json json = {{"theta", Json::parse(shortest(approximation->theta))},
               {"multipole", approximation->multipole}};
  if (approximation->force_tolerance)
    json["force_tolerance"] = Json::parse(shortest(*approximation->force_tolerance));
  if (approximation->order) json["order"] = *approximation->order;
  if (approximation->rebuild_every > 1) json["rebuild_every"] = *approximation->rebuild_every;
  return json;
}

// Returns null if --force-error was not given. Infinite errors are null too, because JSON has no
// infinity.
Json json_of_force_error(const Result& result) {
  if (!result.force_error) return {};
  const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json(); };
  const ForceError& error = *result.force_error;
  return {{"bodies", error.bodies},         {"rms", number(error.rms)},
          {"median", number(error.median)}, {"p99", number(error.p99)},
          {"p999", number(error.p999)},     {"max", number(error.max)}};
}

// Returns null if the plausibility of the run was not judged.
Json json_of(const std::optional<Plausibility>& physics) {
  if (!physics) return {};
  const auto number = [](const std::optional<double>& x) {
    return x && std::isfinite(*x) ? Json(*x) : Json();
  };
  return {{"verdict", to_string(physics->word)},
          {"reasons", physics->reasons},
          {"notes", physics->notes},
          {"energy_change", number(physics->energy_change)},
          {"energy_error", number(physics->energy_error)},
          {"encounter", number(physics->encounter)},
          {"time_step_error", number(physics->time_step_error)},
          {"rounding_error", number(physics->rounding_error)}};
}

// Returns null for a program without ranks.
Json json_of_ranks(const Ranks& ranks) {
  if (ranks.transport.empty()) return {};
  return {{"ranks", ranks.count},
          {"hosts", ranks.hosts},
          {"transport", ranks.transport},
          {"distribution", ranks.distribution}};
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

}  // namespace

int sources(const Result& result) {
  const int sources = result.repeats.empty() ? 0 : result.repeats.back().sources;
  return sources > 0 ? std::min(sources, result.bodies_per_system) : result.bodies_per_system;
}

std::string Result::verdict() const {
  if (!validation) return "unchecked";
  if (validation->failed()) return "fail";
  return validation->partial() ? "partial" : "pass";
}

Timing median(const std::vector<Timing>& repeats) { return quantile(repeats, 0.5); }

Timing interquartile_range(const std::vector<Timing>& repeats) {
  const Timing low = quantile(repeats, 0.25), high = quantile(repeats, 0.75);
  Timing range;
  for (const auto part : kParts) range.*part = high.*part - low.*part;
  return range;
}

double interactions(const Result& result) {
  return static_cast<double>(result.systems) * result.bodies_per_system * sources(result) *
         result.steps;
}

std::string to_csv(const std::vector<Span>& spans) {
  const char* const stages[] = {"upload", "compute", "download"};
  double origin = spans.empty() ? 0 : spans.front().begin;
  for (const Span& span : spans) origin = std::min(origin, span.begin);
  std::string text = "device,stream,system,stage,begin,end\n";
  for (const Span& span : spans) {
    text += format("%d,%d,%d,%s,%.9f,%.9f\n", span.device, span.stream, span.system,
                   stages[static_cast<int>(span.stage)], span.begin - origin, span.end - origin);
  }
  return text;
}

std::string to_json(const Result& result) {
  const Timing middle = median(result.repeats);
  Json repeats = Json::array();
  for (const Timing& timing : result.repeats) repeats.push_back(json_of(timing));
  const Validation validation = result.validation.value_or(Validation());
  Json errors = Json::object(), limits = Json::object(), failed = Json::array();
  for (const Check& check : validation.checks) {
    // JSON has no NaN, so a value that is not finite becomes null.
    errors[check.name] = check.decided && std::isfinite(check.value) ? Json(check.value) : Json();
    limits[check.name] = check.limit;
    if (check.failed()) failed.push_back(check.name);
  }
  const Json record = {{"step", result.info.name},
                       {"parent", result.info.parent},
                       {"revision", revision()},
                       {"date", now()},
                       {"device",
                        {{"name", result.platform.device_name},
                         {"count", result.devices},
                         {"driver", result.platform.driver},
                         {"cuda", result.platform.cuda}}},
                       {"backend", result.platform.backend},
                       {"flags", result.platform.flags},
                       {"precision", result.precision},
                       {"systems", result.systems},
                       {"bodies", result.bodies_per_system},
                       {"sources", sources(result)},
                       {"steps", result.steps},
                       {"dt", result.dt},
                       {"softening", result.softening},
                       {"integrator", to_string(result.integrator)},
                       {"scenario", result.scenario},
                       {"approximation", json_of(result.approximation)},
                       {"shape", json_of_shape(result)},
                       {"cluster", json_of_ranks(result.ranks)},
                       {"repeats", repeats},
                       {"median", json_of(middle)},
                       {"iqr", json_of(interquartile_range(result.repeats))},
                       {"interactions_per_second", interactions(result) / middle.compute},
                       {"interactions_per_second_total", interactions(result) / middle.total},
                       {"errors", errors},
                       {"limits", limits},
                       {"failed", failed},
                       {"undecided", validation.open()},
                       {"sampled", validation.sampled},
                       {"force_error", json_of_force_error(result)},
                       {"physics", json_of(result.physics)},
                       {"verdict", result.verdict()}};
  return record.dump();
}

}  // namespace nbody
