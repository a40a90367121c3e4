#include <algorithm>
#include <utility>
#include <vector>

#include "nbody/step.h"

namespace nbody {
namespace {

// Returns the total length that the intervals cover; an overlap of intervals counts once.
double covered(std::vector<std::pair<double, double>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  double sum = 0, end = intervals.empty() ? 0 : intervals.front().first;
  for (const auto& [from, to] : intervals) {
    sum += std::max(0.0, to - std::max(from, end));
    end = std::max(end, to);
  }
  return sum;
}

}  // namespace

Timing timing_of(std::vector<Span> spans) {
  const auto covered_by = [&](Stage stage) {
    std::vector<std::pair<double, double>> intervals;
    for (const Span& span : spans) {
      if (span.stage == stage) intervals.emplace_back(span.begin, span.end);
    }
    return covered(std::move(intervals));
  };
  Timing timing{.upload = covered_by(Stage::upload),
                .compute = covered_by(Stage::compute),
                .download = covered_by(Stage::download)};
  timing.spans = std::move(spans);
  return timing;
}

}  // namespace nbody
