#include "physics/validation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <random>

#include "physics/force_error.h"
#include "physics/reference.h"
#include "physics/validation/disguise.h"
#include "physics/validation/trajectory.h"
#include "support/text.h"

namespace nbody {
namespace {

// The largest number of interactions that the reference may compute; smaller in long double, which
// is slower.
template <class Real>
constexpr double kBudget = 4e8;
template <>
constexpr double kBudget<double> = 2e7;
// If a smaller angle is checked too, a check stays undecided only if its limit is above this.
constexpr double kMaxCoarseLimit = 0.5;
// Forces of a step with a known tree may have this many times the tree's own error.
constexpr double kLikeTheTree = 1.5;
// A run that took longer than this is repeated only on request.
constexpr double kPatience = 10;  // seconds
// Up to this many steps of the run are repeated one by one; the others are repeated in longer
// calls.
constexpr int kSingleSteps = 32;
// Ratio of a test kick to a moving body's velocity, so large that the accelerations lose no digits;
// and the largest ratio of a test drift to the largest coordinate.
constexpr double kLongKick = 1024, kLongDrift = 8;
// Largest part of the limit of body_order for which the error of a tree of known design is used.
constexpr double kWidestOfKnownTree = 0.9;

// If forces are sampled, body_order adds this many bodies per system: those whose forces changed
// most.
constexpr int kMostChanged = 8;
// Products above this may overflow float32 when other terms are added.
constexpr double kLargest = 1e30;

// Returns evenly spaced numbers below n that always include the first and the last, because a
// dropped last tile or an index that is off by one shows in the last body.
std::vector<int> sample(int n, double count) {
  return evenly_spaced(n, static_cast<int>(std::clamp<double>(count, std::min(n, 2), n)));
}

template <class Real>
BasicSystems<Real> chosen(const BasicSystems<Real>& systems, const std::vector<int>& which) {
  BasicSystems<Real> result(static_cast<int>(which.size()), systems.bodies_per_system);
  for (int s = 0; s < result.count; ++s) {
    const auto from = systems.system(which[static_cast<std::size_t>(s)]);
    std::copy(from.begin(), from.end(), result.system(s).begin());
  }
  return result;
}

// Random numbers for one system, from SplitMix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  Random(int purpose, int system)
      : state_(static_cast<std::uint64_t>(purpose) << 48 ^ static_cast<std::uint64_t>(system)) {}
  std::uint64_t operator()() {
    std::uint64_t bits = state_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
  }
  // Returns a number between 1/2 and 1.
  double drawn() { return 0.5 + static_cast<double>((*this)() >> 11) * 0x1p-54; }

 private:
  std::uint64_t state_;
};

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
    const bool finite = check_finite();
    const Step<Real> first = step_from(input_.start);
    // While a GPU takes the time steps, the cores are free for the sums in float64.
    auto sums = std::async(when(), [&] {
      check_forces(first);
      return finite && !has_tree() ? check_trajectory() : Gate();
    });
    check_kick_drift(first);
    const std::vector<Change> changes = changes_in_disguise(first);
    check_time_step(first);
    std::optional<Step<Real>> last;
    if (finite) {
      check_run(first);
      last = check_composition(first);
    }
    Gate trajectory = sums.get();
    check_body_order(first, changes);
    if (!finite) return decided({time_step_, finite_});
    if (last) check(*last);
    if (has_tree()) trajectory = check_trajectory();  // its limit is not known earlier
    return decided(
        {time_step_, finite_, composition_, mass_, momentum_, angular_momentum_, trajectory});
  }

  Validation validate_one_step() {
    const Step<Real> only{input_.start, kicked(input_.start), input_.end};
    check_one(only);
    if (!check_finite()) return decided({finite_});
    check_run(only);
    return decided({finite_, mass_, momentum_, angular_momentum_});
  }

 private:
  int n() const { return input_.start.bodies_per_system; }
  bool is_direct() const { return !(input_.approximation.theta > 0); }
  bool has_tree() const { return input_.tree && !is_direct(); }
  double pairs() const { return static_cast<double>(input_.start.count) * n() * n(); }
  double rms_limit() const { return check_.rms_limit(); }

  void check_one(const Step<Real>& first) {
    check(first);
    check_body_order(first, changes_in_disguise(first));
  }
  void check_run(const Step<Real>& first) {
    check_mass();
    check_conservation(first.kicked);
  }

  // For a small problem, starting a thread takes longer than the sums.
  std::launch when() const {
    constexpr double kWorthAThread = 1e7;  // interactions
    if (has_tree() || pairs() * input_.steps < kWorthAThread) return std::launch::deferred;
    return std::launch::async | std::launch::deferred;
  }

  // Returns the checks of a single step and the given ones, and marks those whose limit is too wide
  // as undecided.
  Validation decided(const std::vector<Gate>& others) const {
    Validation result{{forces_.rms, forces_.p99}, sampled_};
    if (is_direct()) result.gates.push_back(forces_.worst);
    result.gates.insert(result.gates.end(), {order_, kick_drift_});
    result.gates.insert(result.gates.end(), others.begin(), others.end());
    const bool fine_decides = check_finer(result.gates);
    for (Gate& gate : result.gates) {
      if (!std::isfinite(gate.value)) continue;  // NaN and infinity fail at any limit
      if (gate.limit <= (has_tree() ? 1 : fine_decides ? kMaxCoarseLimit : kMaxLimit)) continue;
      gate.decided = false;
      gate.open = format("the limit has grown to %.2g", gate.limit);
    }
    return result;
  }

  State advanced(State state, double dt, int steps) const {
    advance_(state, dt, steps);
    return state;
  }
  State kicked(State state) const { return kicked_by(advance_, std::move(state)); }
  static State kicked_by(const Advance<Real>& advance, State state) {
    for (auto& body : state.bodies) body.vx = body.vy = body.vz = 0;
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

  void check_forces(const Step<Real>& step) {
    cancellation_.clear();
    for (int s = 0; s < step.before.count; ++s) {
      if constexpr (std::is_same_v<Real, float>) {
        if (has_tree()) {
          const ErrorLimit own =
              check_.check_tree(tree_, step.before.system(s), step.kicked.system(s));
          forces_.approximate = {kLikeTheTree * own.rms, kLikeTheTree * own.p99};
          tree_error_ = std::max(tree_error_, forces_.approximate.rms);
        }
      }
      cancellation_.push_back(check_.check(forces_, step.before.system(s), step.kicked.system(s)));
    }
  }

  void check_kick_drift(const Step<Real>& step) {
    check_kick_drift(kick_drift_, step.before, step.kicked, step.after);
  }

  // Adds the checks at a smaller angle. Returns true if these checks can decide: always for a known
  // tree, otherwise if both of their limits are at most kMaxLimit.
  bool check_finer(std::vector<Gate>& gates) const {
    if (has_tree()) {
      gates.insert(gates.begin() + 2, tree_);
      return true;
    }
    const auto finer_than_asked = finer(input_.approximation);
    if (!finer_than_asked || !variants_.fine) return false;
    const std::string at = "_at_theta_" + shortest(finer_than_asked->theta);
    ForceGates forces = check_.gates("rms" + at, "p99" + at, *finer_than_asked);
    const State kicked = kicked_by(variants_.fine, input_.start);
    for (int s = 0; s < kicked.count; ++s)
      check_.check(forces, input_.start.system(s), kicked.system(s));
    gates.insert(gates.end(), {forces.rms, forces.p99});
    return forces.rms.limit <= kMaxLimit && forces.p99.limit <= kMaxLimit;
  }

  void check_kick_drift(Gate& gate, const State& before, const State& kicked,
                        const State& after) const {
    for_each_system(before, gate, [&](int s, Gate& of_system) {
      check_kick_drift(of_system, before.system(s), kicked.system(s), after.system(s));
    });
  }

  // Calls work(s) for every system, in parallel.
  template <class Work>
  static void for_each_system(const State& state, const Work& work) {
#pragma omp parallel for schedule(dynamic) if (is_worth_a_team(state.bodies_per_system))
    for (int s = 0; s < state.count; ++s) work(s);
  }

  // Checks the systems in parallel; the worst result counts.
  template <class Check>
  static void for_each_system(const State& state, Gate& gate, const Check& check) {
    std::vector<Gate> gates(static_cast<std::size_t>(state.count));
    for_each_system(state, [&](int s) { check(s, gates[static_cast<std::size_t>(s)]); });
    keep_worst(gate, gates);
  }
  static void keep_worst(Gate& gate, const std::vector<Gate>& others) {
    for (const Gate& other : others) gate.value = max_or_nan(gate.value, other.value);
  }

  // Checks v1 = v0 + a dt and x1 = x0 + v1 dt with the accelerations that the step itself computes.
  void check_kick_drift(Gate& gate, std::span<const BasicBody<Real>> before,
                        std::span<const BasicBody<Real>> kicked,
                        std::span<const BasicBody<Real>> after) const {
    // Differences below this may come from numbers that were rounded to zero.
    constexpr W none = std::numeric_limits<Real>::min();
    const W dt = input_.dt, time = std::abs(dt), typical = rms_speed(kicked);
    const auto beyond_none = [&](const auto& difference) {
      return std::isnan(length(difference)) ? length(difference)
                                            : std::max(W{0}, length(difference) - none);
    };
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto x0 = position<W>(before[i]), v0 = velocity<W>(before[i]);
      const auto x1 = position<W>(after[i]), v1 = velocity<W>(after[i]);
      const auto a = velocity<W>(kicked[i]);
      const W speed = length(v0) + (length(a) + typical) * time;
      add(gate, beyond_none(v1 - (v0 + dt * a)), speed);
      add(gate, beyond_none(x1 - (x0 + dt * v1)), length(x0) + length(v1) * time);
    }
  }

  // A run's own time step may be so short that rounding in the velocity hides the kick and rounding
  // in the position hides the drift, and with them any error in dt. Here half of the bodies start
  // from rest, so that the kick is the whole velocity; the others are so fast that the drift
  // dominates the position.
  void check_time_step(const Step<Real>& first) {
    State state = first.before;
    for_each_system(state, [&](int s) {
      Random random(2, s);
      const double reach = largest_coordinate(state.system(s));
      const double fast = kLongDrift * (reach > 0 ? reach : 1) / std::abs(input_.dt);
      for (BasicBody<Real>& body : state.system(s)) {
        const bool rests = fast < kLargest && n() > 1 && random() % 2 == 0;
        if (fast >= kLargest) continue;
        for (Real* v : {&body.vx, &body.vy, &body.vz})
          *v = rests ? 0 : static_cast<Real>(fast * (random() % 2 == 0 ? 1 : -1) * random.drawn());
      }
    });
    check_kick_drift(time_step_, state, first.kicked, advanced(state, input_.dt, 1));
  }

  static double largest_coordinate(std::span<const BasicBody<Real>> bodies) {
    Real most = 0;
    for (const auto& b : bodies)
      most = std::max({most, std::abs(b.x), std::abs(b.y), std::abs(b.z)});
    return most;
  }

  // A state in which every body moves, even if the run starts from rest, and the length of a kick
  // that is so long that the accelerations remain visible in the velocities.
  struct Motion {
    State state;
    double kick = 1;
    std::vector<W> lost;  // relative error that rounding adds, per system
  };
  Motion set_in_motion(const Step<Real>& step) const {
    const auto count = static_cast<std::size_t>(step.before.count);
    Motion motion{step.before, 1, std::vector<W>(count)};
    std::vector<W> speeds(count), accelerations(count), largest(count);
    for_each_system(step.before, [&](int s) {
      const auto at = static_cast<std::size_t>(s);
      const W a = rms_speed(step.kicked.system(s));
      const W typical = std::max(rms_speed(step.before.system(s)),
                                 std::sqrt(a * largest_coordinate(step.before.system(s))));
      Random random(3, s);
      for (BasicBody<Real>& body : motion.state.system(s))
        for (Real* v : {&body.vx, &body.vy, &body.vz})
          *v += static_cast<Real>(typical * (random.drawn() - 0.75));
      speeds[at] = rms_speed(motion.state.system(s));
      accelerations[at] = a;
      for (const auto& body : step.kicked.system(s))
        largest[at] = std::max(largest[at], length(velocity<W>(body)));
    });
    W ratio = 0, most = 0;
    for (std::size_t s = 0; s < count; ++s) {
      if (accelerations[s] > 0) ratio = std::max(ratio, speeds[s] / accelerations[s]);
      most = std::max(most, largest[s]);
    }
    // The kick's length is rounded up to a power of two.
    const double wanted = std::exp2(std::ceil(std::log2(static_cast<double>(kLongKick * ratio))));
    const double allowed = std::sqrt(kLargest / std::max<double>(static_cast<double>(most), 1));
    if (wanted > 0 && std::isfinite(wanted) && wanted <= allowed) motion.kick = wanted;
    for (std::size_t s = 0; s < count; ++s)
      if (accelerations[s] > 0)
        motion.lost[s] = 4 * unit_roundoff<Real> * speeds[s] / (accelerations[s] * motion.kick);
    return motion;
  }

  // The change of a system's accelerations when its bodies are reordered and get other axes and
  // other units: the root mean square, relative to the accelerations.
  struct Change {
    double value = 0;
    double lost = 0;        // the part of the change that rounding may explain
    std::vector<int> most;  // the bodies that change most, if bodies are sampled
  };
  std::vector<Change> changes_in_disguise(const Step<Real>& step) const {
    const Disguise<Real> disguise(step.before, input_.softening_squared,
                                  variants_.rescaled ? kOtherLength : 1);
    const Motion motion = set_in_motion(step);
    const State before = disguise.of(motion.state);
    State after = before;
    (disguise.is_rescaled() ? variants_.rescaled : advance_)(after, motion.kick, 1);
    std::vector<Change> changes(static_cast<std::size_t>(before.count));
    for_each_system(before, [&](int s) {
      const int other = disguise.system(s);
      Change& change = changes[static_cast<std::size_t>(other)];
      W error = 0, scale = 0;
      std::vector<std::pair<double, int>> of_bodies;
      for (std::size_t k = 0; k < before.system(s).size(); ++k) {
        const auto a = velocity<W>(step.kicked.system(other)[disguise.body(k)]);
        const auto dv = velocity<W>(after.system(s)[k]) - velocity<W>(before.system(s)[k]);
        const auto difference = (1 / static_cast<W>(motion.kick)) * disguise.back(dv) - a;
        error += dot(difference, difference);
        scale += dot(a, a);
        if (!sampled_ || !is_direct()) continue;
        const double of_body = relative_error(length(difference), length(a));
        // A NaN would make the sort order undefined.
        of_bodies.emplace_back(
            std::isnan(of_body) ? std::numeric_limits<double>::infinity() : of_body,
            static_cast<int>(disguise.body(k)));
      }
      change.value = root_of_ratio(error, scale);
      change.lost = static_cast<double>(motion.lost[static_cast<std::size_t>(other)]);
      change.most = largest(std::move(of_bodies), kMostChanged);
    });
    return changes;
  }

  static std::vector<int> largest(std::vector<std::pair<double, int>> values, std::size_t count) {
    count = std::min(count, values.size());
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(values.begin(), end, values.end(), std::greater());
    std::vector<int> which;
    for (auto value = values.begin(); value != end; ++value) which.push_back(value->second);
    return which;
  }

  // Finds errors that depend on a body's place in memory or in space, or on its motion. A sum over
  // all bodies hides an error in one weak force, so if bodies are sampled, those that changed most
  // are compared with float64 too.
  void check_body_order(const Step<Real>& step, const std::vector<Change>& changes) {
    for (int s = 0; s < step.before.count; ++s) {
      const Change& change = changes[static_cast<std::size_t>(s)];
      // A tree may group the reordered bodies in another way, and then makes a second, independent
      // error. Where forces cancel, both are large relative to the acceleration. For a known tree
      // the limit stays below 1, so that the gate decides; no right tree comes near.
      const double cancelled =
          is_direct() ? 1 : std::max(1.0, cancellation_[static_cast<std::size_t>(s)]);
      double of_tree = 2 * approximate_.rms * cancelled;
      if (has_tree()) of_tree = std::min(of_tree, kWidestOfKnownTree);
      const double limit = std::hypot(4 * rms_limit(), of_tree);
      check_.check_each(forces_.worst, step.before.system(s), step.kicked.system(s), change.most);
      const double near = std::hypot(limit, change.lost);
      const double loss = change.value <= near ? 0 : check_.loss_in_sums(step.before.system(s)).rms;
      order_.keep_worse(change.value, std::hypot(near, loss));
    }
    // A step that sums with atomics adds in another order in each call, so the time_step check must
    // allow the same change.
    if (is_direct()) time_step_.limit += std::fmin(order_.value, order_.limit);
  }

  // Repeats the run in several calls or, if time is short, a chunk of it or some of its systems. An
  // error that depends on the number of steps per call then leads to a different end state. Returns
  // the run's last step, or nothing if the run has only one.
  std::optional<Step<Real>> check_composition(const Step<Real>& first) {
    const bool all = mode_ == ValidationMode::full || input_.seconds <= kPatience;
    const int systems = all ? input_.start.count
                            : static_cast<int>(input_.start.count * kPatience / input_.seconds);
    if (input_.steps == 1) compare_states(first.after, input_.end, 1);
    if (input_.steps > 1 && (all || (systems > 0 && input_.chunk == nullptr))) {
      return repeat_run(first, sample(input_.start.count, systems));
    }
    if (input_.chunk != nullptr && input_.steps > 1) {
      const RunChunk<Real>& chunk = *input_.chunk;
      compare_states(in_several_calls(chunk.start, chunk.steps), chunk.end, chunk.steps);
      composition_.open = format("only steps %lld to %lld of %d were repeated", chunk.first + 1,
                                 chunk.first + chunk.steps, input_.steps);
    } else {
      // Two steps in one call must equal two calls of one step.
      compare_states(advanced(first.after, input_.dt, 1), advanced(input_.start, input_.dt, 2), 2);
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

  Step<Real> repeat_run(const Step<Real>& first, const std::vector<int>& which) {
    Step<Real> last = step_from(in_several_calls(chosen(first.after, which), input_.steps - 2));
    compare_states(last.after, chosen(input_.end, which), input_.steps);
    if (last.after.count < input_.start.count)
      composition_.open =
          format("only %d of %d systems were repeated", last.after.count, input_.start.count);
    return last;
  }

  // Repeats the run: first in single steps, which other checks verify, then in calls of 2, 4, 8,
  // ... steps, and finally in two equal calls. With only one long call, a program that loses one
  // step in every long call would lose as many steps here as in the run, and pass.
  State in_several_calls(State state, int left) const {
    const auto take = [&](int steps) {
      if (steps > 0) advance_(state, input_.dt, steps);
      left -= steps;
    };
    for (int k = 1; k < kSingleSteps && left > 0; ++k) take(1);
    for (int steps = 2; 4 * steps <= left; steps *= 2) take(steps);
    const int half = left / 2;
    take(half);
    take(half);
    take(left);
    return state;
  }

  void compare_states(const State& a, const State& b, int steps) {
    const W time = std::abs(static_cast<W>(input_.dt)) * steps;
    for_each_system(a, composition_, [&](int s, Gate& gate) {
      const W typical = rms_speed(a.system(s));
      for (std::size_t i = 0; i < a.system(s).size(); ++i) {
        const auto &one = a.system(s)[i], &other = b.system(s)[i];
        const W speed = length(velocity<W>(one)) + typical;
        const auto dx = position<W>(one) - position<W>(other);
        const auto dv = velocity<W>(one) - velocity<W>(other);
        add(gate, length(dx), length(position<W>(one)) + speed * time);
        add(gate, length(dv), speed);
      }
    });
  }

  // No other check can judge a run that ends in NaN or infinity.
  bool check_finite() {
    const int count = input_.end.count;
    for (int s = 0; s < count; ++s) {
      for (int i = 0; i < n(); ++i) {
        const BasicBody<Real>& b = input_.end.system(s)[static_cast<std::size_t>(i)];
        if (std::isfinite(W{b.x} + b.y + b.z + b.vx + b.vy + b.vz + b.mass)) continue;
        for (const auto& [name, value] : {std::pair("x", b.x),
                                          {"y", b.y},
                                          {"z", b.z},
                                          {"vx", b.vx},
                                          {"vy", b.vy},
                                          {"vz", b.vz},
                                          {"mass", b.mass}}) {
          if (std::isfinite(value)) continue;
          if (finite_.value++ == 0)
            finite_.detail =
                format("%s of body %d is %s", name, i, std::isnan(value) ? "NaN" : "infinite") +
                (count > 1 ? format(" in system %d", s) : "");
        }
      }
    }
    return finite_.value == 0;
  }

  void check_mass() {
    for (std::size_t k = 0; k < input_.start.bodies.size(); ++k)
      mass_.value += !(input_.start.bodies[k].mass == input_.end.bodies[k].mass);
  }

  // Compares momentum and angular momentum with the sums of the magnitudes that cancel in them.
  void check_conservation(const State& kicked) {
    const W time = std::abs(static_cast<W>(input_.dt)) * input_.steps;
    std::vector<Gate> linear(static_cast<std::size_t>(kicked.count)), angular(linear);
    for_each_system(kicked, [&](int s) {
      const auto before = input_.start.system(s), after = input_.end.system(s);
      BasicVector3<W> dp, dl;
      W p_scale = 0, l_scale = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        const W m = before[i].mass;
        const auto x0 = position<W>(before[i]), v0 = velocity<W>(before[i]);
        const auto x1 = position<W>(after[i]), v1 = velocity<W>(after[i]);
        const W speed =
            std::max(length(v0), length(v1)) + length(velocity<W>(kicked.system(s)[i])) * time;
        dp += m * (v1 - v0);
        dl += m * (cross(x1, v1) - cross(x0, v0));
        p_scale += m * speed;
        l_scale += m * std::max(length(x0), length(x1)) * speed;
      }
      add(linear[static_cast<std::size_t>(s)], length(dp), p_scale);
      add(angular[static_cast<std::size_t>(s)], length(dl), l_scale);
    });
    keep_worst(momentum_, linear);
    keep_worst(angular_momentum_, angular);
  }

  Gate check_trajectory() const {
    const double of_tree = has_tree() ? tree_error_ : approximate_.rms;
    const double force_limit = std::hypot(rms_limit(), of_tree);
    const int count = input_.start.count;
    if (!sampled_) return trajectory_gate(input_, sample(count, count), force_limit);
    // Chooses one system at random, but always the same one for the same run.
    const int one =
        static_cast<int>(std::mt19937(static_cast<unsigned>(n()))() % static_cast<unsigned>(count));
    const double cost = static_cast<double>(n()) * n() * input_.steps;
    if (cost > 4 * kBudget<Real>)
      return {"trajectory", 0, 0, false,
              format("not compared: that takes %.2g interactions in float64", cost)};
    Gate gate = trajectory_gate(input_, {one}, force_limit);
    if (gate.decided && count > 1)
      gate.open = format("compared only in system %d of %d", one, count);
    return gate;
  }

  static W rms_speed(std::span<const BasicBody<Real>> bodies) {
    W sum = 0;
    for (const auto& body : bodies) sum += dot(velocity<W>(body), velocity<W>(body));
    return std::sqrt(sum / static_cast<W>(bodies.size()));
  }

  static void add(Gate& gate, W error, W scale) {
    gate.value = max_or_nan(gate.value, relative_error(error, scale));
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

  // The forces of two bodies on each other are equal and opposite only to within the errors of
  // both.
  double conservation_limit() const {
    return (1e-5 + 1e-6 * std::sqrt(input_.steps)) * kRounding<Real> + 2 * approximate_.rms;
  }
  ForceGates forces_ = check_.gates("acceleration_rms", "acceleration_p99", input_.approximation);
  const ErrorLimit approximate_ = forces_.approximate;
  Gate tree_{"tree", 0, 1e-5};
  double tree_error_ = 0;             // relative force error that the tree may have
  std::vector<double> cancellation_;  // of the forces of each system: ForceCheck::check
  Gate order_{"body_order", 0, 4 * rms_limit()};
  Gate kick_drift_{"kick_drift", 0, 1e-6 * kRounding<Real>};
  Gate time_step_{"time_step", 0, 1e-6 * kRounding<Real>};
  Gate finite_{"finite", 0, 0};
  Gate composition_{"composition", 0, 1e-6 * kRounding<Real>};
  Gate mass_{"mass", 0, 0};
  Gate momentum_{"momentum", 0, conservation_limit()};
  Gate angular_momentum_{"angular_momentum", 0, conservation_limit()};
};

}  // namespace

bool Validation::failed() const {
  return std::any_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.failed(); });
}

bool Validation::partial() const {
  return std::any_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.unproved; });
}

std::vector<std::string> Validation::open() const {
  std::vector<std::string> phrases;
  for (const Gate& gate : gates)
    if (!gate.open.empty()) phrases.push_back(gate.name + ": " + gate.open);
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
