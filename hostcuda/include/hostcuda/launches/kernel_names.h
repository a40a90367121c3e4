// Finds the function that a launch names.
#ifndef HOSTCUDA_KERNEL_NAMES_H
#define HOSTCUDA_KERNEL_NAMES_H

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hostcuda {

// Converts the name of a kernel to a pointer if exactly one function has this name. `Tag` makes the
// call dependent, so that an overloaded name is a substitution failure instead of an error.
template <class Tag, class Result, class... Parameters>
constexpr auto exact(Result (*function)(Parameters...))
    -> std::enable_if_t<std::is_same_v<Tag, int>, Result (*)(Parameters...)> {
  return function;
}
// Selects the function of this type, if the name has one.
template <class Function>
struct OfType {
  using type = Function;
};
template <class Tag>
constexpr typename Tag::type exact(typename Tag::type function) {
  return function;
}

// k<3><<<...>>>(x) names one function if the other template parameters have defaults, or are a
// pack, but the arguments decide which function is called. `type` is that function's type, or void
// if it is the named one. If an argument's type differs from its parameter's, either the type is
// deduced from it, or it converts to the parameter's type. For the first four such arguments, all
// combinations are tried; later ones convert.
template <class Resolve, class Parameters, class Arguments, unsigned long long kConverted = 0>
struct OtherFunction;
template <class Resolve, class... Parameters, class... Arguments, unsigned long long kConverted>
struct OtherFunction<Resolve, std::tuple<Parameters...>, std::tuple<Arguments...>, kConverted> {
  static constexpr std::size_t kCount = sizeof...(Parameters);

  // An argument that a pack takes has no parameter, and keeps its type.
  template <std::size_t kIndex, class Argument>
  using Parameter = std::tuple_element_t<(kIndex < kCount ? kIndex : kCount),
                                         std::tuple<Parameters..., Argument>>;

  template <std::size_t kIndex, class Argument>
  static constexpr bool kConverts = !std::is_same_v<Argument, Parameter<kIndex, Argument>> &&
                                    std::is_convertible_v<Argument, Parameter<kIndex, Argument>>;

  template <std::size_t... kIndex>
  static constexpr unsigned long long may_convert(std::index_sequence<kIndex...>) {
    return ((kConverts<kIndex, Arguments> ? 1ull << kIndex % 64 : 0) | ... | 0);
  }
  static constexpr unsigned long long without_first_four(unsigned long long mask) {
    for (int k = 0; k < 4; ++k) mask &= mask - 1;
    return mask;
  }
  static constexpr unsigned long long kAll = may_convert(std::index_sequence_for<Arguments...>{});
  static constexpr unsigned long long kAlways = without_first_four(kAll), kOpen = kAll & ~kAlways;
  template <std::size_t... kIndex>
  static auto wanted(std::index_sequence<kIndex...>)
      -> OfType<void (*)(std::conditional_t<((kConverted | kAlways) >> kIndex % 64 & 1),
                                            Parameter<kIndex, Arguments>, Arguments>...)>;
  using Wanted = decltype(wanted(std::index_sequence_for<Arguments...>{}));

  static auto find() {
    if constexpr (sizeof...(Arguments) < kCount ||
                  std::is_same_v<Wanted, OfType<void (*)(Parameters...)>>)
      return;
    else if constexpr (std::is_invocable_v<const Resolve&, Wanted>)
      return Wanted{};
    else if constexpr (kConverted != kOpen)  // the next subset
      return OtherFunction<Resolve, std::tuple<Parameters...>, std::tuple<Arguments...>,
                           ((kConverted - kOpen) & kOpen)>::find();
  }
  using type = decltype(find());
};

}  // namespace hostcuda

#endif  // HOSTCUDA_KERNEL_NAMES_H
