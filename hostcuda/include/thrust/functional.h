// hostcuda: Thrust's functors, and _1, _2, ... for expressions such as a * _1 + _2.
#pragma once

#include <tuple>
#include <type_traits>

#include "cuda/std/functional"

namespace thrust {

using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::plus;

#define HOSTCUDA_EXTREME(name, better)                                  \
  template <class T = void>                                             \
  struct name {                                                         \
    T operator()(const T& a, const T& b) const { return better; }       \
  };                                                                    \
  template <>                                                           \
  struct name<void> {                                                   \
    template <class T, class U>                                         \
    std::common_type_t<T, U> operator()(const T& a, const U& b) const { \
      return better;                                                    \
    }                                                                   \
  };
HOSTCUDA_EXTREME(maximum, a < b ? b : a)
HOSTCUDA_EXTREME(minimum, b < a ? b : a)
#undef HOSTCUDA_EXTREME
template <class T>
struct square {
  T operator()(const T& x) const { return x * x; }
};
template <class T>
struct identity {
  const T& operator()(const T& x) const { return x; }
};
template <class T, class U = T>
struct project1st {
  const T& operator()(const T& x, const U&) const { return x; }
};
template <class T, class U = T>
struct project2nd {
  const U& operator()(const T&, const U& y) const { return y; }
};

// Older programs derive their functors from these classes.
template <class Argument, class Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <class First, class Second, class Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};

template <class Predicate>
auto not_fn(Predicate predicate) {
  return [predicate](const auto&... x) { return !predicate(x...); };
}
template <class Predicate>
auto not1(Predicate predicate) {
  return thrust::not_fn(predicate);
}

namespace detail {

// An expression that contains placeholders. Call the expression with a value for each placeholder
// to evaluate it.
template <class Function>
struct expression {
  Function function;
  template <class... Arguments>
  auto operator()(const Arguments&... arguments) const {
    return function(arguments...);
  }
};
template <class Function>
expression<Function> make_expression(Function function) {
  return {function};
}

template <std::size_t kIndex>
struct argument {
  template <class... Arguments>
  auto operator()(const Arguments&... arguments) const {
    return std::get<kIndex>(std::tie(arguments...));
  }
};

template <class T>
struct is_expression : std::false_type {};
template <class Function>
struct is_expression<expression<Function>> : std::true_type {};

template <class T, class... Arguments>
auto evaluated(const T& term, const Arguments&... arguments) {
  if constexpr (is_expression<T>::value)
    return term(arguments...);
  else
    return term;
}

#define HOSTCUDA_OPERATOR(symbol)                                                         \
  template <class A, class B,                                                             \
            class = std::enable_if_t<is_expression<A>::value || is_expression<B>::value>> \
  auto operator symbol(const A& a, const B& b) {                                          \
    return make_expression([a, b](const auto&... arguments) {                             \
      return evaluated(a, arguments...) symbol evaluated(b, arguments...);                \
    });                                                                                   \
  }
HOSTCUDA_OPERATOR(+)
HOSTCUDA_OPERATOR(-)
HOSTCUDA_OPERATOR(*)
HOSTCUDA_OPERATOR(/)
HOSTCUDA_OPERATOR(%)
HOSTCUDA_OPERATOR(<)
HOSTCUDA_OPERATOR(>)
HOSTCUDA_OPERATOR(<=)
HOSTCUDA_OPERATOR(>=)
HOSTCUDA_OPERATOR(==)
HOSTCUDA_OPERATOR(!=)
HOSTCUDA_OPERATOR(&&)
HOSTCUDA_OPERATOR(||)
HOSTCUDA_OPERATOR(&)
HOSTCUDA_OPERATOR(|)
HOSTCUDA_OPERATOR(^)
#undef HOSTCUDA_OPERATOR
template <class Function>
auto operator-(const expression<Function>& a) {
  return make_expression([a](const auto&... arguments) { return -a(arguments...); });
}
template <class Function>
auto operator!(const expression<Function>& a) {
  return make_expression([a](const auto&... arguments) { return !a(arguments...); });
}

}  // namespace detail

namespace placeholders {
inline constexpr detail::expression<detail::argument<0>> _1{};
inline constexpr detail::expression<detail::argument<1>> _2{};
inline constexpr detail::expression<detail::argument<2>> _3{};
}  // namespace placeholders

}  // namespace thrust

namespace cuda {
using thrust::maximum;
using thrust::minimum;
}  // namespace cuda
