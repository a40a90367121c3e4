#include "physics/validation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "physics/force_error.h"
#include "physics/reference.h"
#include "physics/trajectory.h"
#include "support/text.h"

namespace nbody {
namespace {

// Interactions of the reference. long double has no vector registers.
template <class Real>
constexpr double kBudget = 4e8;
template <>
constexpr double kBudget<double> = 2e7;
// Of what is also checked at a smaller angle, limits beyond this decide nothing either.
constexpr double kMaxCoarseLimit = 0.5;
// A run that takes longer is not repeated without being asked.
constexpr double kPatience = 10;  // seconds
// As many steps of the run are repeated one by one, the others in longer calls.
constexpr int kSingleSteps = 32;

// Evenly spaced numbers below n, the first and the last always among them: the last is where a
// dropped tail and an off-by-one show.
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

// One time step, and what the step takes for the accelerations before it.
template <class Real>
struct Step {
  BasicSystems<Real> before;
  BasicSystems<Real> kicked;  // velocities are accelerations
  BasicSystems<Real> after;
};

template <class Real>
class Validator {
 public:
  using State = BasicSystems<Real>;
  using W = Wide<Real>;

  Validator(const ValidationInput<Real>& input, ValidationMode mode, const Advance<Real>& advance,
            const Advance<Real>& fine)
      : input_(input), mode_(mode), advance_(advance), fine_(fine) {}

  Validation validate() {
    const Step<Real> first = step_from(input_.start);
    check_one(first);
    check_composition(first);
    return decided({forces_.rms, forces_.p99, order_, kick_drift_, composition_, mass_, momentum_,
                    angular_momentum_, check_trajectory()});
  }

  Validation validate_one_step() {
    check_one({input_.start, kicked(input_.start), input_.end});
    return decided(
        {forces_.rms, forces_.p99, order_, kick_drift_, mass_, momentum_, angular_momentum_});
  }

 private:
  int n() const { return input_.start.bodies_per_system; }
  double pairs() const { return static_cast<double>(input_.start.count) * n() * n(); }
  double rms_limit() const { return check_.rms_limit(); }

  void check_one(const Step<Real>& first) {
    check(first);
    check_body_order(first);
    check_mass();
    check_conservation(first.kicked);
  }

  Validation decided(std::vector<Gate> gates) const {
    Validation result{std::move(gates), sampled_};
    const bool fine_decides = check_finer(result.gates);
    for (Gate& gate : result.gates) {
      if (gate.limit <= (fine_decides ? kMaxCoarseLimit : kMaxLimit)) continue;
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
  Step<Real> step_from(const State& before) const {
    return {before, kicked(before), advanced(before, input_.dt, 1)};
  }

  void check(const Step<Real>& step) {
    for (int s = 0; s < step.before.count; ++s) {
      check_.check(forces_, step.before.system(s), step.kicked.system(s));
      check_kick_drift(step.before.system(s), step.kicked.system(s), step.after.system(s));
    }
  }

  // Adds the gates of a smaller angle; whether there are any, and their limits tell right from
  // wrong.
  bool check_finer(std::vector<Gate>& gates) const {
    const auto finer_than_asked = finer(input_.approximation);
    if (!finer_than_asked || !fine_) return false;
    const std::string at = "_at_theta_" + shortest(finer_than_asked->theta);
    ForceGates forces = check_.gates("rms" + at, "p99" + at, *finer_than_asked);
    const State kicked = kicked_by(fine_, input_.start);
    for (int s = 0; s < kicked.count; ++s)
      check_.check(forces, input_.start.system(s), kicked.system(s));
    gates.insert(gates.end(), {forces.rms, forces.p99});
    return forces.rms.limit <= kMaxLimit && forces.p99.limit <= kMaxLimit;
  }

  // Does v1 = v0 + a dt and x1 = x0 + v1 dt hold, given the accelerations the step found itself?
  void check_kick_drift(std::span<const BasicBody<Real>> before,
                        std::span<const BasicBody<Real>> kicked,
                        std::span<const BasicBody<Real>> after) {
    const W dt = input_.dt, time = std::abs(dt), typical = rms_speed(kicked);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto x0 = position<W>(before[i]), v0 = velocity<W>(before[i]);
      const auto x1 = position<W>(after[i]), v1 = velocity<W>(after[i]);
      const auto a = velocity<W>(kicked[i]);
      const W speed = length(v0) + (length(a) + typical) * time;
      add(kick_drift_, length(v1 - (v0 + dt * a)), speed);
      add(kick_drift_, length(x1 - (x0 + dt * v1)), length(x0) + length(v1) * time);
    }
  }

  // What depends on the place of a body in memory does not follow it to another place.
  void check_body_order(const Step<Real>& step) {
    const State& state = step.before;
    std::vector<std::size_t> order(static_cast<std::size_t>(n()));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    State shuffled(state.count, n());
    for (int s = 0; s < state.count; ++s) {
      for (std::size_t i = 0; i < order.size(); ++i)
        shuffled.system(state.count - 1 - s)[i] = state.system(s)[order[i]];
    }
    shuffled = kicked(std::move(shuffled));
    // Of bodies in one place, others may be taken together then.
    const double limit = std::hypot(4 * rms_limit(), 2 * approximate_.rms);
    for (int s = 0; s < state.count; ++s) {
      W error = 0, scale = 0;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto a = velocity<W>(step.kicked.system(s)[order[i]]);
        const auto difference = velocity<W>(shuffled.system(state.count - 1 - s)[i]) - a;
        error += dot(difference, difference);
        scale += dot(a, a);
      }
      const double value = root_of_ratio(error, scale);
      const double loss = value <= limit ? 0 : check_.loss_in_sums(state.system(s)).rms;
      order_.keep_worse(value, std::hypot(limit, loss));
    }
  }

  // The run once more, in several calls. Whatever depends on the number of steps of a call does not
  // add up to the same.
  void check_composition(const Step<Real>& first) {
    const double affordable = mode_ == ValidationMode::full || input_.seconds <= kPatience
                                  ? input_.start.count
                                  : std::floor(input_.start.count * kPatience / input_.seconds);
    if (input_.steps == 1) compare_states(first.after, input_.end, 1);
    if (input_.steps == 1 || affordable < 1) {
      // Two steps in one call are one step twice.
      compare_states(advanced(first.after, input_.dt, 1), advanced(input_.start, input_.dt, 2), 2);
    }
    if (affordable < 1) {
      composition_.open = format("the run was not repeated, which takes %.3g s", input_.seconds);
      check(step_from(input_.end));
    } else if (input_.steps > 1) {
      const auto which = sample(input_.start.count, affordable);
      const Step<Real> last = step_from(before_last(chosen(first.after, which)));
      compare_states(last.after, chosen(input_.end, which), input_.steps);
      check(last);
      if (last.after.count < input_.start.count)
        composition_.open = format("of the run, %d of %d systems were repeated", last.after.count,
                                   input_.start.count);
    }
  }

  // From the state after the first step to that before the last: many single steps, which are known
  // to be right, then calls of 2, 4, 8, ... steps and two equal ones. If just one call were long, a
  // program that loses a step in every long call would lose as many as in the run.
  State before_last(State state) const {
    int left = input_.steps - 2;
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
    for (int s = 0; s < a.count; ++s) {
      const W typical = rms_speed(a.system(s));
      for (std::size_t i = 0; i < a.system(s).size(); ++i) {
        const auto &one = a.system(s)[i], &other = b.system(s)[i];
        const W speed = length(velocity<W>(one)) + typical;
        const auto dx = position<W>(one) - position<W>(other);
        const auto dv = velocity<W>(one) - velocity<W>(other);
        add(composition_, length(dx), length(position<W>(one)) + speed * time);
        add(composition_, length(dv), speed);
      }
    }
  }

  void check_mass() {
    for (std::size_t k = 0; k < input_.start.bodies.size(); ++k)
      mass_.value += !(input_.start.bodies[k].mass == input_.end.bodies[k].mass);
  }

  // Momentum and angular momentum are compared with the sums of the magnitudes that cancel in them.
  void check_conservation(const State& kicked) {
    const W time = std::abs(static_cast<W>(input_.dt)) * input_.steps;
    for (int s = 0; s < input_.start.count; ++s) {
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
      add(momentum_, length(dp), p_scale);
      add(angular_momentum_, length(dl), l_scale);
    }
  }

  Gate check_trajectory() const {
    const double force_limit = std::hypot(rms_limit(), approximate_.rms);
    const int count = input_.start.count;
    if (!sampled_) return trajectory_gate(input_, sample(count, count), force_limit);
    // One system, any: the same one when the same run is checked again.
    const int one =
        static_cast<int>(std::mt19937(static_cast<unsigned>(n()))() % static_cast<unsigned>(count));
    const double cost = static_cast<double>(n()) * n() * input_.steps;
    if (cost > 4 * kBudget<Real>)
      return {"trajectory", 0, 0, false,
              format("not compared, which takes %.2g interactions in float64", cost)};
    Gate gate = trajectory_gate(input_, {one}, force_limit);
    if (gate.decided && count > 1)
      gate.open = format("compared in 1 of %d systems, number %d", count, one);
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
  const Advance<Real>& fine_;
  const bool sampled_ =
      mode_ == ValidationMode::sampled ||
      (mode_ == ValidationMode::automatic && pairs() * (input_.steps + 1.0) > kBudget<Real>);
  const ForceCheck<Real> check_{input_,
                                sample(n(), sampled_ ? kBudget<Real> / 2 * n() / pairs() : n())};

  // Forces that err by so much, not all of them the same way, are no longer equal and opposite.
  double conservation_limit() const {
    return (1e-5 + 1e-6 * std::sqrt(input_.steps)) * kRounding<Real> + 2 * approximate_.rms;
  }
  ForceGates forces_ = check_.gates("acceleration_rms", "acceleration_p99", input_.approximation);
  ErrorLimit approximate_ = forces_.approximate;
  Gate order_{"body_order", 0, 4 * rms_limit()};
  Gate kick_drift_{"kick_drift", 0, 1e-6 * kRounding<Real>};
  Gate composition_{"composition", 0, 1e-6 * kRounding<Real>};
  Gate mass_{"mass", 0, 0};
  Gate momentum_{"momentum", 0, conservation_limit()};
  Gate angular_momentum_{"angular_momentum", 0, conservation_limit()};
};

}  // namespace

bool Validation::failed() const {
  return std::any_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.failed(); });
}

std::vector<std::string> Validation::open() const {
  std::vector<std::string> phrases;
  for (const Gate& gate : gates)
    if (!gate.open.empty()) phrases.push_back(gate.name + ": " + gate.open);
  return phrases;
}

template <class Real>
Validation validate(const ValidationInput<Real>& input, ValidationMode mode,
                    const Advance<Real>& advance, const Advance<Real>& fine) {
  return Validator<Real>(input, mode, advance, fine).validate();
}

Validation validate_one_step(const ValidationInput<float>& input, const Advance<float>& advance,
                             const Advance<float>& fine) {
  return Validator<float>(input, ValidationMode::sampled, advance, fine).validate_one_step();
}

template Validation validate(const ValidationInput<float>&, ValidationMode, const Advance<float>&,
                             const Advance<float>&);
template Validation validate(const ValidationInput<double>&, ValidationMode, const Advance<double>&,
                             const Advance<double>&);

}  // namespace nbody
