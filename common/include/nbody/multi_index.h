// The terms x^kx y^ky z^kz of a polynomial in three variables, numbered order by order: 1, x, y, z,
// x^2, xy, ... All numbers are compile-time constants, so that an array with one element per term
// can stay in registers.
#pragma once

#include <cuda_runtime.h>

#include <utility>

namespace nbody {

// The number of terms of orders below n.
constexpr int terms_below(int n) { return n * (n + 1) * (n + 2) / 6; }

struct Term {
  int x, y, z;  // the powers
  constexpr int order() const { return x + y + z; }
  constexpr int place() const { return terms_below(order()) + (y + z) * (y + z + 1) / 2 + z; }
};

constexpr Term term_at(int place) {
  for (int n = 0, k = 0;; ++n)
    for (int x = n; x >= 0; --x)
      for (int z = 0; z <= n - x; ++z, ++k)
        if (k == place) return {x, n - x - z, z};
}
static_assert(term_at(5).place() == 5 && term_at(83).place() == 83);

template <int kPlace>
constexpr Term kTerm = term_at(kPlace);
template <int x, int y, int z>
constexpr int kAt = Term{x, y, z}.place();

// Calls action.operator()<place>() for the first kTerms terms, without the one of order 0.
template <int kTerms, class Action>
__device__ void for_each_term(const Action& action) {
  [&]<int... kPlace>(std::integer_sequence<int, kPlace...>) {
    (action.template operator()<kPlace + 1>(), ...);
  }
  (std::make_integer_sequence<int, kTerms - 1>{});
}

}  // namespace nbody
