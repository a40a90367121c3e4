#include "run/report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "nbody/cluster.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody {
namespace {

void print_check(std::ostream& out, const Check& check) {
  out << format("  %-18s ", check.name.c_str());
  if (check.decided)
    out << format("%9.2e  limit %8.1e  %s", check.value, check.limit,
                  check.failed() ? "FAIL" : "pass");
  if (check.failed() && !check.detail.empty()) out << ": " << check.detail;
  if (!check.open.empty()) out << (check.decided ? "; " : "undecided: ") << check.open;
  out << '\n';
}

void print_physics(std::ostream& out, const Plausibility& physics) {
  out << "  physics      " << to_string(physics.word);
  const char* between = ": ";
  for (const auto* texts : {&physics.reasons, &physics.notes}) {
    for (const std::string& text : *texts) {
      out << between << text;
      between = "\n               ";
    }
  }
  out << '\n';
}

void print_verdict(std::ostream& out, const Result& result) {
  if (!result.validation) {
    out << "  verdict      unchecked\n";
    return;
  }
  for (const Check& check : result.validation->checks) print_check(out, check);
  out << "  verdict      " << result.verdict()
      << (result.validation->sampled ? " (sampled: forces on some bodies of every system)"
                                     : " (full)")
      << '\n';
  for (const std::string& phrase : result.validation->open())
    out << "  undecided    " << phrase << '\n';
}

}  // namespace

void print_job(std::ostream& out, const StepInfo& info, const Platform& platform, const Job& job) {
  const Systems& systems = job.start.systems;
  out << info.name << " on " << platform.device_name;
  if (job.run.devices > 1) out << ", " << job.run.devices << " devices";
  out << " (" << platform.backend << ")\n";
  if (!ranks().transport.empty())
    out << format("  cluster      %d rank%s on %d host%s, data through %s\n", ranks().count,
                  ranks().count == 1 ? "" : "s", ranks().hosts, ranks().hosts == 1 ? "" : "s",
                  ranks().transport.c_str());
  out << format("  input        %s: %d system%s of %d bod%s\n", job.start.scenario.c_str(),
                systems.count, systems.count == 1 ? "" : "s", systems.bodies_per_system,
                systems.bodies_per_system == 1 ? "y" : "ies");
  const std::string steps = job.last_step == std::numeric_limits<int>::max()
                                ? "until stopped, steps"
                                : std::to_string(job.run.steps) + " steps";
  out << format("  run          %s of dt %s, softening %s, %s%s\n", steps.c_str(),
                shortest(job.start.dt).c_str(), shortest(job.start.softening).c_str(),
                to_string(job.start.integrator), is_float64(job.start) ? ", float64" : "");
  if (info.approximation) {
    const auto& [theta, multipole, force_tolerance, order, rebuild_every] = job.run.approximation;
    out << joined("  tree         theta ", shortest(theta), ", multipole ", multipole);
    if (force_tolerance) out << ", force tolerance " << shortest(*force_tolerance);
    if (order) out << ", order " << *order;
    if (rebuild_every > 1) out << ", built every " << *rebuild_every << " steps";
    out << '\n';
  }
  for (const std::string& name : job.defaults)
    out << "  default      " << name << ": the file does not give it\n";
  if (job.is_finished())
    out << format("  finished     %s has taken all %lld steps, so only the outputs are written\n",
                  one_line(job.continues).c_str(), job.start.step);
  else if (job.start.step > 0)
    out << format("  resumed      at step %lld\n", job.start.step);
  for (const std::string& note : job.notes)
    out << "               although the file " << note << '\n';
  out.flush();
}

void print_result(std::ostream& out, const Result& result) {
  if (!result.shape_origin.empty()) out << "  shape        " << result.shape_origin << '\n';
  if (!result.ranks.distribution.empty())
    out << "  distributed  " << result.ranks.distribution << " over the ranks\n";
  const Timing middle = median(result.repeats), range = interquartile_range(result.repeats);
  const double count = interactions(result);
  const double bodies = 1.0 * result.systems * result.bodies_per_system * result.steps;
  out << format("  time         compute %.6f s, upload %.6f, download %.6f, total %.6f\n",
                middle.compute, middle.upload, middle.download, middle.total);
  if (result.repeats.size() > 1) {
    out << format("               median of %zu; interquartile range of compute %.6f s\n",
                  result.repeats.size(), range.compute);
  }
  if (sources(result) < result.bodies_per_system)
    out << "  sources      " << sources(result)
        << " bodies of each system have mass; only interactions"
        << " with them are counted\n";
  const char* const emulated =
      result.platform.backend == "hostcuda" ? "; emulated on a CPU: not a GPU time" : "";
  if (result.steps > 0 && result.approximation)
    out << format("  throughput   %.4g M bodies/s (%.4g with transfers)%s\n",
                  bodies / middle.compute * 1e-6, bodies / middle.total * 1e-6, emulated);
  else if (result.steps > 0)
    out << format("  throughput   %.4g G interactions/s (%.4g with transfers)%s\n",
                  count / middle.compute * 1e-9, count / middle.total * 1e-9, emulated);
  if (result.force_error) {
    const ForceError& error = *result.force_error;
    out << format(
        "  force error  RMS %.2e, median %.2e, 99 %% %.2e, 99.9 %% %.2e, max %.2e (%d bodies)\n",
        error.rms, error.median, error.p99, error.p999, error.max, error.bodies);
  }
  print_verdict(out, result);
  if (result.physics) print_physics(out, *result.physics);
}

void print_diagnostics(std::ostream& out, const Diagnostics& state) {
  out << format("  energy       %.9g: kinetic %.9g, potential %.9g", state.energy(), state.kinetic,
                state.potential);
  if (state.potential_is_sampled())
    out << format(" +- %.1e (from some of the bodies)", state.potential_error);
  out << format("\n  virial       2T/|W| %.6g\n", state.virial_ratio());
  out << format("  momentum     %.3g; angular momentum %.6g\n", length(state.momentum),
                length(state.angular_momentum));
}

void print_diagnostics(std::ostream& out, const Diagnostics& before, const Diagnostics& after) {
  const double scale = std::abs(before.energy());
  const double change = scale == 0 ? 0 : (after.energy() - before.energy()) / scale;
  const double error = std::max(before.potential_error, after.potential_error);
  out << format("  energy       %.9g -> %.9g, relative change ", before.energy(), after.energy());
  if (error == 0 || scale == 0) {
    out << format("%.2e\n", change);
  } else {
    // If the energies are estimates, a change that is smaller than the error of the estimates means
    // nothing.
    out << (std::abs(change) < error / scale ? "below" : format("%.2e, standard error", change))
        << format(" %.1e (potential estimated from some of the bodies)\n", error / scale);
  }
  if (std::abs(change) > 0.1)
    out << format("  warning      the energy changed by %.0f %%: is the time step too long?\n",
                  100 * std::abs(change));
  out << format("  virial       2T/|W| %.6g -> %.6g\n", before.virial_ratio(),
                after.virial_ratio());
  out << format("  momentum     change %.2e; angular momentum, change %.2e\n",
                length(after.momentum - before.momentum),
                length(after.angular_momentum - before.angular_momentum));
}

}  // namespace nbody
