// hostcuda: Thrust's random numbers: the standard library's engines, with Thrust's distributions.
#pragma once

#include <iostream>  // as in Thrust, on whose headers programs rely
#include <limits>
#include <random>

namespace thrust {
namespace random {

using std::minstd_rand;
using std::minstd_rand0;
using std::normal_distribution;
using std::ranlux24;
using std::ranlux48;
using default_random_engine = std::minstd_rand;

// As in Thrust, each value uses one number from the engine, so equal engines give equal values.
template <class Real = double>
class uniform_real_distribution {
 public:
  using result_type = Real;
  explicit uniform_real_distribution(Real a = 0, Real b = 1) : a_(a), b_(b) {}
  template <class Engine>
  Real operator()(Engine& engine) const {
    const Real range = static_cast<Real>(Engine::max() - Engine::min()) + 1;
    return static_cast<Real>(engine() - Engine::min()) / range * (b_ - a_) + a_;
  }

 private:
  Real a_, b_;
};
template <class Integer = int>
class uniform_int_distribution {
 public:
  using result_type = Integer;
  explicit uniform_int_distribution(Integer a = 0, Integer b = std::numeric_limits<Integer>::max())
      : real_(static_cast<double>(a), static_cast<double>(b) + 1) {}
  template <class Engine>
  Integer operator()(Engine& engine) const {
    return static_cast<Integer>(real_(engine));
  }

 private:
  uniform_real_distribution<double> real_;
};

}  // namespace random
using namespace random;
}  // namespace thrust
