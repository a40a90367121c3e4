#include "physics/validation/plausibility.h"

#include <algorithm>
#include <cmath>

#include "physics/force_error.h"
#include "physics/reference.h"
#include "support/text.h"

namespace nbody {
namespace {

using Word = Plausibility::Word;

// Limits on the relative change of the energy. If the time step resolves the orbits, the change
// stays below 1e-3 with leapfrog and below 1e-2 with Euler. A run whose energy changes by a tenth
// describes another system.
constexpr double kDoubtfulEnergy = 1e-2, kFailedEnergy = 0.1;
// A pair matters if its share of the energy is larger than kMatters. Two bodies of such a pair must
// need at least kResolved time steps to move as far as they are apart.
constexpr double kMatters = 2e-2, kResolved = 10;
constexpr double kPairs = 2e7;  // largest number of pairs per state to search for encounters
// The positions at the end are judged only for systems of up to kFewBodies bodies, because the
// motion of more bodies is chaotic.
constexpr int kFewBodies = 16;
constexpr double kDoubtfulPositions = 1e-2;
constexpr double kFollowed = 3e8;  // largest number of interactions in a wider float
// Rounding dominates if the rounding error of the positions is more than kRoundingLeads times the
// error of the time step.
constexpr double kRoundingLeads = 3;
constexpr double kNoteworthy = 1e-5;

const char* finer_steps(Integrator integrator) {
  return integrator == Integrator::euler ? "use --integrator leapfrog, or a shorter --dt"
                                         : "use a shorter --dt";
}

template <class Real>
class Judge {
 public:
  explicit Judge(const PhysicsInput<Real>& input) : input_(input) {}

  Plausibility judge() {
    judge_energy();
    judge_encounters();
    judge_positions();
    return std::move(result_);
  }

 private:
  using W = Wide<Real>;

  void say(Word word, std::string reason) {
    result_.word = std::max(result_.word, word);
    result_.reasons.push_back(std::move(reason));
  }

  // Returns the scale for energy errors: |E|, or a tenth of T + |W| if this is larger because
  // kinetic and potential energy cancel.
  static double scale(const Diagnostics& of) {
    return std::max(std::abs(of.energy()), 0.1 * (of.kinetic + std::abs(of.potential)));
  }

  void judge_energy() {
    double worst = -1;
    for (std::size_t s = 0; s < input_.before.size(); ++s) {
      const Diagnostics &before = input_.before[s], &after = input_.after[s];
      const double change = relative_error(std::abs(after.energy() - before.energy()),
                                           std::max(scale(before), 1e-300));
      if (!(change <= worst)) {
        worst = change;
        result_.energy_change = change;
        result_.energy_error = relative_error(
            std::hypot(before.potential_error, after.potential_error), scale(before));
      }
    }
    const double sure = worst - 3 * *result_.energy_error;
    const auto reason = [&](const char* what) {
      return format("the energy changed by %.3g %%, %s: %s", 100 * worst, what,
                    finer_steps(input_.integrator));
    };
    if (!std::isfinite(sure))
      say(Word::failed, "the energy is not a finite number, so a position or velocity is not");
    else if (sure > kFailedEnergy)
      say(Word::failed, reason("which no physics explains"));
    else if (sure > kDoubtfulEnergy)
      say(Word::doubtful, reason("too much for a time step that resolves the orbits"));
  }

  // Returns 1 / t, where t is the shortest time in which two bodies move as far as they are apart
  // or, if they are at rest, fall together.
  double fastest(const BasicSystems<Real>& systems,
                 const std::vector<Diagnostics>& energies) const {
    const double eps2 = input_.softening * input_.softening;
    double fastest = 0;  // 1 / time
    for (int s = 0; s < systems.count; ++s) {
      const auto bodies = systems.system(s);
      const double energy = scale(energies[static_cast<std::size_t>(s)]);
      double heaviest = 0;
      for (const auto& body : bodies) heaviest = std::max(heaviest, double{body.mass});
      if (heaviest * heaviest <= kMatters * energy * input_.softening) continue;
      const int n = systems.bodies_per_system;
      const double share = kPairs / systems.count / n;
      const auto some = evenly_spaced(n, static_cast<int>(std::clamp<double>(share, 1, n)));
#pragma omp parallel for reduction(max                                                          \
                                   : fastest) if (1.0 * n * static_cast <double>(some.size()) > \
                                                  1e5)
      for (std::size_t k = 0; k < some.size(); ++k) {
        const auto& a = bodies[static_cast<std::size_t>(some[k])];
        for (const auto& b : bodies) {
          if (&a == &b) continue;
          const Vector3 d = position(b) - position(a), v = velocity(b) - velocity(a);
          const double r2 = dot(d, d) + eps2, r = std::sqrt(r2);
          if (a.mass * b.mass <= kMatters * energy * r) continue;
          fastest = std::max({fastest, dot(v, v) / r2, (double{a.mass} + b.mass) / (r2 * r)});
        }
      }
    }
    return std::sqrt(fastest);
  }

  void judge_encounters() {
    const double of_start = fastest(input_.start, input_.before),
                 of_end = fastest(input_.end, input_.after);
    const double encounter = std::max(of_start, of_end) * std::abs(input_.dt);
    result_.encounter = encounter;
    if (!(encounter * kResolved <= 1))
      say(Word::doubtful,
          format(
              "two close bodies at the %s move as far as they are apart in only %.2g time steps, "
              "but at least %g are needed: use a shorter --dt, or a larger --softening",
              of_start > of_end ? "start" : "end", 1 / encounter, kResolved));
  }

  using Reference = BasicReference<W>;
  // Computes the motion of a system in a wider float, with `divisor` times as many time steps.
  Reference followed(int s, int divisor) const {
    const W h = static_cast<W>(input_.dt) / divisor;
    const W half = input_.integrator == Integrator::leapfrog ? h / 2 : 0;
    const W eps2 = static_cast<W>(input_.softening) * static_cast<W>(input_.softening);
    Reference motion(input_.start.system(s));
    motion.drift(half);
    for (long long k = 0; k < 1LL * input_.steps * divisor; ++k) motion.advance(h, eps2);
    motion.drift(-half);
    return motion;
  }
  template <class Position>
  static double apart(const Reference& from, const Position& position) {
    W extent = 0, error = 0;
    for (int i = 0; i < from.size(); ++i) {
      const auto x = from.position(i), d = position(i) - x;
      extent += dot(x, x);
      error += dot(d, d);
    }
    return root_of_ratio(error, extent);
  }

  void judge_positions() {
    const int n = input_.start.bodies_per_system;
    const double cost = 3.0 * input_.start.count * input_.steps * n * (n + 20.0);
    if (n > kFewBodies || n < 2 || cost > kFollowed) return;
    double of_step = 0, of_rounding = 0;
    for (int s = 0; s < input_.start.count; ++s) {
      const Reference same = followed(s, 1), halved = followed(s, 2);
      const auto end = input_.end.system(s);
      // Halving the time step leaves a quarter of the error (leapfrog) or a half (Euler), so the
      // two runs differ by 3/4 or 1/2 of the error.
      const double order = input_.integrator == Integrator::leapfrog ? 4.0 / 3 : 2;
      of_step = max_or_nan(of_step, order * apart(halved, [&](int i) { return same.position(i); }));
      of_rounding = max_or_nan(of_rounding, apart(same, [&](int i) {
                                 return position<W>(end[static_cast<std::size_t>(i)]);
                               }));
    }
    result_.time_step_error = of_step;
    result_.rounding_error = of_rounding;
    const bool rounding_leads = of_rounding > kRoundingLeads * of_step;
    const bool single = std::is_same_v<Real, float>;
    const std::string sizes =
        format("by %.1e of the system's size, and the time step's error moves them by %.1e",
               of_rounding, of_step);
    const std::string remedy = single ? "use a step with --precision double" : "take fewer steps";
    if (!(of_step <= kDoubtfulPositions)) {
      say(Word::doubtful,
          format("halving the time step moves the bodies by %.1e of the system's size: "
                 "%s, or simulate less time",
                 of_step, finer_steps(input_.integrator)));
    } else if (!(of_rounding <= kDoubtfulPositions)) {
      say(Word::doubtful, format("rounding moves the bodies %s: ", sizes.c_str()) + remedy);
    } else if (rounding_leads && of_rounding > kNoteworthy * kRounding<Real>) {
      result_.notes.push_back(
          format("%s is at its limit: rounding moves the bodies %s, so shorter steps "
                 "make the result worse",
                 single ? "float32" : "float64", sizes.c_str()) +
          (single ? "; " + remedy : ""));
    }
  }

  const PhysicsInput<Real>& input_;
  Plausibility result_;
};

}  // namespace

const char* to_string(Word word) {
  return word == Word::ok ? "ok" : word == Word::doubtful ? "doubtful" : "failed";
}

template <class Real>
std::vector<Diagnostics> diagnose_each(const BasicSystems<Real>& systems, double softening,
                                       double budget) {
  std::vector<Diagnostics> each;
  for (int s = 0; s < systems.count; ++s)
    each.push_back(diagnose(systems.system(s), softening, budget / systems.count));
  return each;
}

template <class Real>
Plausibility plausibility(const PhysicsInput<Real>& input) {
  return Judge<Real>(input).judge();
}

template std::vector<Diagnostics> diagnose_each(const Systems&, double, double);
template std::vector<Diagnostics> diagnose_each(const SystemsF64&, double, double);
template Plausibility plausibility(const PhysicsInput<float>&);
template Plausibility plausibility(const PhysicsInput<double>&);

}  // namespace nbody
