#include "physics/validation.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>
#include <random>

#include "physics/force_error.h"
#include "physics/validation/body_order.h"
#include "physics/validation/conservation.h"
#include "physics/validation/kept_tree.h"
#include "physics/validation/kick_drift.h"
#include "physics/validation/mean_change.h"
#include "physics/validation/repetition.h"
#include "physics/validation/series.h"
#include "physics/validation/trajectory.h"
#include "support/text.h"

namespace nbody {
namespace {

// The largest number of interactions that the reference may compute. The number is smaller for long
// double, which is slower.
template <class Real>
constexpr double kBudget = 4e8;
template <>
constexpr double kBudget<double> = 2e7;
// If the forces are also checked at a smaller angle, each of the other checks stays undecided only
// if its limit is above kMaxCoarseLimit.
constexpr double kMaxCoarseLimit = 0.5;
// The forces of a step that builds a known tree may have an error of kLikeTheTree times the error
// of the same tree in float64.
constexpr double kLikeTheTree = 1.5;
// A run that took longer than this is repeated only on request.
constexpr double kPatience = 10;  // seconds
// The limit of body_order allows at most this much for the errors of a tree whose design is known.
constexpr double kWidestOfKnownTree = 0.9;

// Returns evenly spaced indices below n that always include 0 and n - 1, because a dropped last
// tile or an index that is off by one shows in the last body.
std::vector<int> sample(int n, double count) {
  return evenly_spaced(n, static_cast<int>(std::clamp<double>(count, std::min(n, 2), n)));
}

// One time step: the states before and after, and the accelerations that the program computes for
// the state before.
template <class Real>
struct Step {
  BasicSystems<Real> before;
  BasicSystems<Real> kicked;  // its velocities are the accelerations
  BasicSystems<Real> after;
};

template <class Real>
class Validator {
 public:
  using State = BasicSystems<Real>;
  using W = Wide<Real>;

  Validator(const ValidationInput<Real>& input, ValidationMode mode, const Advance<Real>& advance,
            const Variants<Real>& variants)
      : input_(input), mode_(mode), advance_(advance), variants_(variants) {}

  Validation validate() {
    const bool finite = is_finite();
    const Step<Real> first = step_from(input_.start);
    // While a GPU takes the time steps, the CPU's cores are free for the sums in float64.
    auto sums = std::async(when(), [&] {
      cancellation_ = check_forces(first);
      return finite && !has_tree() ? check_trajectory() : Check();
    });
    check_kick_drift(first);
    const std::vector<Change> changes = changes_of(first);
    const State long_steps = at_rest_or_fast(first.before, input_.dt);
    check_kick_drift(time_step_, long_steps, first.kicked, advanced(long_steps, input_.dt, 1));
    check_kept_tree(first);
    std::optional<Step<Real>> last;
    if (finite) {
      check_run(first);
      if (!sampled_) sums.wait();  // the composition also checks forces
      last = check_composition(first);
    }
    Check trajectory = sums.get();
    check_body_order(first, changes);
    if (!finite) return decided({time_step_, finite_});
    if (last) check(*last);
    if (has_tree()) trajectory = check_trajectory();  // its limit is not known earlier
    if (kick_drift_.failed() || composition_.failed()) allow_sums_in_any_order(first);
    std::vector<Check> others{time_step_, finite_,           composition_, mass_,
                              momentum_,  angular_momentum_, trajectory};
    if (kept_tree_) others.push_back(*kept_tree_);
    if (const auto series = check_series()) others.push_back(*series);
    return decided(others);
  }

  Validation validate_one_step() {
    const Step<Real> only{input_.start, kicked(input_.start), input_.end};
    check_one(only);
    if (!is_finite()) return decided({finite_});
    check_run(only);
    return decided({finite_, mass_, momentum_, angular_momentum_});
  }

 private:
  int n() const { return input_.start.bodies_per_system; }
  bool is_direct() const { return !(input_.approximation.theta > 0); }
  // True if only an angle decides which nodes of a known tree are opened.
  bool has_tree() const {
    return input_.tree && !input_.approximation.force_tolerance && !is_direct();
  }
  bool keeps_no_tree() const { return input_.approximation.rebuild_every.value_or(1) == 1; }
  float theta() const { return input_.approximation.theta; }
  double pairs() const { return static_cast<double>(input_.start.count) * n() * n(); }
  double rms_limit() const { return check_.rms_limit(); }

  void check_one(const Step<Real>& first) {
    cancellation_ = check_forces(first);
    check_kick_drift(first);
    check_body_order(first, changes_of(first));
    if (kick_drift_.failed()) allow_sums_in_any_order(first);
  }
  void check_run(const Step<Real>& first) {
    check_mass(mass_, input_.start, input_.end);
    check_conservation(momentum_, angular_momentum_, input_.start, first.kicked, input_.end,
                       input_.dt, input_.steps);
  }
  // No other check can judge a run that ends in NaN or infinity.
  bool is_finite() {
    check_finite(finite_, input_.end);
    return finite_.value == 0;
  }
  W duration_of(int steps) const { return std::abs(static_cast<W>(input_.dt)) * steps; }

  // For a small problem, starting a thread takes longer than computing the sums.
  std::launch when() const {
    constexpr double kWorthAThread = 1e7;  // interactions
    if (has_tree() || pairs() * input_.steps < kWorthAThread) return std::launch::deferred;
    return std::launch::async | std::launch::deferred;
  }

  // Returns the checks of a single step and the checks `others`. Checks whose limit is too wide
  // are marked as undecided.
  Validation decided(const std::vector<Check>& others) const {
    Validation result{{forces_.rms, forces_.p99}, sampled_};
    if (is_direct()) result.checks.push_back(forces_.worst);
    result.checks.insert(result.checks.end(), {order_, kick_drift_, mean_kick_, mean_drift_});
    result.checks.insert(result.checks.end(), others.begin(), others.end());
    const bool fine_decides = check_finer(result.checks);
    for (Check& check : result.checks) {
      if (!std::isfinite(check.value)) continue;  // NaN and infinity fail at any limit
      const double too_wide = has_tree() ? 1 : fine_decides ? kMaxCoarseLimit : kMaxLimit;
      check.decided = check.decided && check.limit <= too_wide;
      // A system whose limit is too wide stays undecided even if another one is nearer its limit.
      const double widest = std::max(check.limit, check.widest);
      if (widest > too_wide) check.open = format("the limit has grown to %.2g", widest);
    }
    return result;
  }

  State advanced(State state, double dt, int steps) const {
    if (steps > 0) advance_(state, dt, steps);
    return state;
  }
  State kicked(State state) const { return kicked_by(advance_, std::move(state)); }
  static State kicked_by(const Advance<Real>& advance, State state) {
    state = at_rest(std::move(state));
    advance(state, 1, 1);
    return state;
  }
  Step<Real> step_from(State before) const {
    State kick = kicked(before), after = advanced(before, input_.dt, 1);
    return {std::move(before), std::move(kick), std::move(after)};
  }

  void check(const Step<Real>& step) {
    check_forces(step);
    check_kick_drift(step);
  }

  // Returns how much the forces of each system cancel: see ForceCheck::check.
  std::vector<double> check_forces(const Step<Real>& step) {
    std::vector<double> cancellation;
    for (int s = 0; s < step.before.count; ++s) {
      if constexpr (std::is_same_v<Real, float>) {
        if (has_tree()) {
          const ErrorLimit own =
              check_.check_tree(tree_, step.before.system(s), step.kicked.system(s), theta());
          forces_.approximate = {kLikeTheTree * own.rms, kLikeTheTree * own.p99};
          tree_error_ = std::max(tree_error_, forces_.approximate.rms);
        }
      }
      cancellation.push_back(check_.check(forces_, step.before.system(s), step.kicked.system(s)));
    }
    return cancellation;
  }

  void check_kick_drift(const Step<Real>& step) {
    check_kick_drift(kick_drift_, step.before, step.kicked, step.after);
    check_mean_change(mean_kick_, mean_drift_, step.before, step.kicked, step.after, input_.dt,
                      4 * rms_limit());
  }
  void check_kick_drift(Check& check, const State& before, const State& kicked,
                        const State& after) {
    nbody::check_kick_drift(check, before, kicked, after, input_.dt);
  }

  // Other checks call single steps, which build a tree. Here bodies start from rest and take steps
  // that are too short to move them, so each step of a kept tree must kick by the same forces.
  void check_kept_tree(const Step<Real>& first) {
    const int steps = std::min(input_.approximation.rebuild_every.value_or(1), 4);
    if (steps == 1) return;
    const double dt = too_short_to_move(first.before, first.kicked);
    const State after = advanced(at_rest(first.before), dt, steps);
    check_kicks_from_rest(time_step_, first.kicked, after, steps * dt);
    if (!variants_.fine) return;
    // Now the bodies move. A few of them are enough, at an angle at which the tree's own errors are
    // small.
    State kept = few_bodies(first.before), rebuilt = kept;
    const double moving = long_enough_to_move(kept, first.kicked) / steps;
    if (!(moving > 0 && std::isfinite(moving))) return;  // no body moves
    variants_.fine(kept, moving, steps);
    for (int step = 0; step < steps; ++step) variants_.fine(rebuilt, moving, 1);
    compare_states(kept_tree_.emplace("kept_tree", 0, 1e-3), kept, rebuilt,
                   static_cast<W>(moving * steps));
  }

  std::optional<Check> check_series() const {
    if constexpr (std::is_same_v<Real, float>) {
      if (by_series(input_.approximation) && variants_.by_series)
        return series_check(input_.approximation, input_.softening_squared, variants_.by_series,
                            input_.largest_group);
    }
    return std::nullopt;
  }

  std::vector<Change> changes_of(const Step<Real>& step) const {
    return changes_in_disguise(step.before, step.kicked, input_.softening_squared, advance_,
                               variants_.rescaled, sampled_ && (is_direct() || has_tree()));
  }

  // Adds the checks at a smaller angle. Returns true if these checks can decide: always for a known
  // tree, otherwise if both of their limits are at most kMaxLimit.
  bool check_finer(std::vector<Check>& checks) const {
    if (has_tree()) {
      checks.insert(checks.begin() + 2, tree_);
      return true;
    }
    check_tree_by_angle(checks);
    const auto finer_than_asked = finer(input_.approximation);
    if (!finer_than_asked || !variants_.fine) return false;
    const std::string at = "_at_theta_" + shortest(finer_than_asked->theta);
    ForceChecks forces = check_.checks("rms" + at, "p99" + at, *finer_than_asked);
    const State kicked = kicked_by(variants_.fine, input_.start);
    for (int s = 0; s < kicked.count; ++s)
      check_.check(forces, input_.start.system(s), kicked.system(s));
    checks.insert(checks.end(), {forces.rms, forces.p99});
    return forces.rms.limit <= kMaxLimit && forces.p99.limit <= kMaxLimit;
  }

  // Without a limit on the error of a node, the step's tree is known.
  void check_tree_by_angle(std::vector<Check>& checks) const {
    if constexpr (std::is_same_v<Real, float>) {
      const auto unlimited = by_angle(input_.approximation);
      if (!input_.tree || !unlimited || !variants_.by_angle) return;
      Check tree = tree_;
      const State kicked = kicked_by(variants_.by_angle, input_.start);
      for (int s = 0; s < kicked.count; ++s)
        check_.check_tree(tree, input_.start.system(s), kicked.system(s), unlimited->theta);
      checks.push_back(tree);
    }
  }

  // Finds errors that depend on a body's place in memory or in space, or on its motion. An RMS
  // over all bodies hides an error in one weak force. Therefore, if bodies are sampled, the bodies
  // whose forces changed most are compared with float64 as well.
  void check_body_order(const Step<Real>& step, const std::vector<Change>& changes) {
    for (int s = 0; s < step.before.count; ++s) {
      const Change& change = changes[static_cast<std::size_t>(s)];
      // A tree may group reordered bodies in another way, and then has a second, independent error.
      // Where forces cancel, the errors of both trees are large relative to the acceleration. For a
      // known tree the limit stays below 1, so that a wrong force still fails; the forces of a
      // correct tree change far less than that.
      const double cancelled =
          is_direct() ? 1 : std::max(1.0, cancellation_[static_cast<std::size_t>(s)]);
      double of_tree = 2 * approximate_.rms * cancelled;
      if (has_tree()) of_tree = std::min(of_tree, kWidestOfKnownTree);
      const double limit = std::hypot(4 * rms_limit(), of_tree);
      check_.check_each(forces_.worst, step.before.system(s), step.kicked.system(s), change.most);
      if constexpr (std::is_same_v<Real, float>) {
        if (has_tree() && !change.most.empty())
          check_.check_tree(tree_, step.before.system(s), step.kicked.system(s), theta(),
                            change.most);
      }
      const double near = std::hypot(limit, change.lost);
      const double loss = change.value <= near ? 0 : check_.loss_in_sums(step.before.system(s)).rms;
      order_.keep_worse(change.value, std::hypot(near, loss));
    }
    // A step that sums with atomics adds in another order in each call, so the time_step check must
    // allow the change that another order causes. Such changes vary by chance, so the check allows
    // twice the change that was found here.
    if (is_direct()) time_step_.limit += 2 * std::fmin(order_.value, order_.limit);
  }

  // A program that sums with atomics adds in another order in each call. Beside a star, the sums
  // then lose other forces. A program whose calls agree gets no such allowance.
  void allow_sums_in_any_order(const Step<Real>& first) {
    if (!is_direct() || same_velocities(kicked(first.before), first.kicked)) return;
    double lost = 0;
    for (int s = 0; s < first.before.count; ++s)
      lost = std::max(lost, 2 * check_.loss_in_sums(first.before.system(s)).rms);
    kick_drift_.limit += lost;
    composition_.limit += lost;
  }

  // Repeats the run in several calls. If time is short, repeats only a chunk of the run or some of
  // its systems.
  // Returns the run's last step, or nothing if the run has only one step.
  std::optional<Step<Real>> check_composition(const Step<Real>& first) {
    const bool all = mode_ == ValidationMode::full || input_.seconds <= kPatience;
    const int systems = all ? input_.start.count
                            : static_cast<int>(input_.start.count * kPatience / input_.seconds);
    if (input_.steps == 1) compare(first.after, input_.end, 1);
    if (input_.steps > 1 && !sampled_ && all && keeps_no_tree()) return check_every_step(first);
    if (input_.steps > 1 && (all || (systems > 0 && input_.chunk == nullptr))) {
      return repeat_run(first, sample(input_.start.count, systems));
    }
    if (input_.chunk != nullptr && input_.steps > 1) {
      const RunChunk<Real>& chunk = *input_.chunk;
      compare(several_calls(chunk.start, chunk.steps), chunk.end, chunk.steps);
      composition_.open = format("only steps %lld to %lld of %d were repeated", chunk.first + 1,
                                 chunk.first + chunk.steps, input_.steps);
    } else {
      // Two steps in one call must give the same state as two calls of one step.
      compare(advanced(first.after, input_.dt, 1), advanced(input_.start, input_.dt, 2), 2);
      if (input_.steps == 1) return std::nullopt;
      if (input_.steps == 0) {
        composition_.open = "there was nothing to do: no time step was taken";
        return std::nullopt;
      }
      composition_.unproved = true;
      composition_.open = format("the run was not repeated: that takes %.3g s", input_.seconds);
    }
    return step_from(input_.end);
  }

  // Repeats the run in single steps, and checks all of them except the first and the last, which
  // the caller checks: nothing else shows an error of a few steps in the middle of a chaotic run.
  // Returns the run's last step.
  Step<Real> check_every_step(const Step<Real>& first) {
    Step<Real> step = first;
    int taken = 1;
    for (const int number : steps_to_check(input_.steps, mode_ == ValidationMode::full)) {
      if (taken > 1) check(step);
      step = step_from(advanced(std::move(step.after), input_.dt, number - taken));
      taken = number + 1;
    }
    compare(step.after, input_.end, input_.steps);
    return step;
  }

  Step<Real> repeat_run(const Step<Real>& first, const std::vector<int>& which) {
    Step<Real> last = step_from(several_calls(chosen(first.after, which), input_.steps - 2));
    compare(last.after, chosen(input_.end, which), input_.steps);
    if (last.after.count < input_.start.count)
      composition_.open =
          format("only %d of %d systems were repeated", last.after.count, input_.start.count);
    return last;
  }

  State several_calls(State state, int steps) const {
    return in_several_calls(advance_, std::move(state), input_.dt, steps);
  }
  void compare(const State& a, const State& b, int steps) {
    compare_states(composition_, a, b, duration_of(steps));
  }

  Check check_trajectory() const {
    const double of_tree = has_tree() ? tree_error_ : approximate_.rms;
    const double force_limit = std::hypot(rms_limit(), of_tree);
    const int count = input_.start.count;
    if (!sampled_) return trajectory_check(input_, sample(count, count), force_limit);
    // Chooses one system at random, but always the same system for the same run.
    const int one =
        static_cast<int>(std::mt19937(static_cast<unsigned>(n()))() % static_cast<unsigned>(count));
    const double cost = static_cast<double>(n()) * n() * input_.steps;
    if (cost > 4 * kBudget<Real>)
      return {"trajectory", 0, 0, false,
              format("not compared: that takes %.2g interactions in float64", cost)};
    Check check = trajectory_check(input_, {one}, force_limit);
    if (check.decided && count > 1)
      check.open = format("compared only in system %d of %d", one, count);
    return check;
  }

  const ValidationInput<Real>& input_;
  ValidationMode mode_;
  const Advance<Real>& advance_;
  const Variants<Real>& variants_;
  const bool sampled_ =
      mode_ == ValidationMode::sampled ||
      (mode_ == ValidationMode::automatic && pairs() * (input_.steps + 1.0) > kBudget<Real>);
  const ForceCheck<Real> check_{input_,
                                sample(n(), sampled_ ? kBudget<Real> / 2 * n() / pairs() : n())};

  // The forces of two bodies on each other are equal and opposite only to within the errors of both
  // forces.
  double conservation_limit() const {
    return (1e-5 + 1e-6 * std::sqrt(input_.steps)) * kRounding<Real> + 2 * approximate_.rms;
  }
  ForceChecks forces_ = check_.checks("acceleration_rms", "acceleration_p99", input_.approximation);
  const ErrorLimit approximate_ = forces_.approximate;
  Check tree_{"tree", 0, 1e-5};
  double tree_error_ = 0;             // relative force error that the tree may have
  std::vector<double> cancellation_;  // of the forces at the first step
  Check order_{"body_order", 0, 4 * rms_limit()};
  Check kick_drift_{"kick_drift", 0, 1e-6 * kRounding<Real>};
  Check mean_kick_{"mean_kick", 0, 8 * rms_limit()};
  Check mean_drift_{"mean_drift", 0, 1e-6 * kRounding<Real>};
  Check time_step_{"time_step", 0, 1e-6 * kRounding<Real>};
  Check finite_{"finite", 0, 0};
  // Each call begins with a new tree, so a tree that is kept for several steps has other errors.
  Check composition_{
      "composition", 0,
      1e-6 * kRounding<Real> + (input_.approximation.rebuild_every > 1 ? approximate_.rms : 0)};
  std::optional<Check> kept_tree_;  // empty unless bodies moved while a tree was kept
  Check mass_{"mass", 0, 0};
  Check momentum_{"momentum", 0, conservation_limit()};
  Check angular_momentum_{"angular_momentum", 0, conservation_limit()};
};

}  // namespace

bool Validation::failed() const {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.failed(); });
}

bool Validation::partial() const {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.unproved; });
}

std::vector<std::string> Validation::open() const {
  std::vector<std::string> phrases;
  for (const Check& check : checks)
    if (!check.open.empty()) phrases.push_back(check.name + ": " + check.open);
  return phrases;
}

template <class Real>
Validation validate(const ValidationInput<Real>& input, ValidationMode mode,
                    const Advance<Real>& advance, const Variants<Real>& variants) {
  return Validator<Real>(input, mode, advance, variants).validate();
}

Validation validate_one_step(const ValidationInput<float>& input, const Advance<float>& advance,
                             const Variants<float>& variants) {
  return Validator<float>(input, ValidationMode::sampled, advance, variants).validate_one_step();
}

template Validation validate(const ValidationInput<float>&, ValidationMode, const Advance<float>&,
                             const Variants<float>&);
template Validation validate(const ValidationInput<double>&, ValidationMode, const Advance<double>&,
                             const Variants<double>&);

}  // namespace nbody
