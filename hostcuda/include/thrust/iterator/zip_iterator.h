// hostcuda: an iterator over several ranges at once, whose values are tuples.
#pragma once

#include "../detail/iterator.h"
#include "../tuple.h"

namespace thrust {

template <class Iterators>
class zip_iterator;

template <class... Iterators>
class zip_iterator<tuple<Iterators...>>
    : public detail::random_access<zip_iterator<tuple<Iterators...>>,
                                   tuple<detail::value_t<Iterators>...>,
                                   tuple<typename std::iterator_traits<Iterators>::reference...>> {
 public:
  static constexpr bool kOnDevice = detail::on_device<Iterators...>;
  using iterator_tuple = tuple<Iterators...>;

  zip_iterator() = default;
  zip_iterator(iterator_tuple iterators) : iterators_(iterators) {}
  const iterator_tuple& get_iterator_tuple() const { return iterators_; }

  auto raw() const {
    return std::apply(
        [](const auto&... each) {
          return zip_iterator<tuple<detail::raw_t<Iterators>...>>(
              std::make_tuple(detail::raw(each)...));
        },
        iterators_);
  }
  auto dereference() const {
    return std::apply(
        [](const auto&... each) {
          return tuple<typename std::iterator_traits<Iterators>::reference...>(*each...);
        },
        iterators_);
  }
  void advance(std::ptrdiff_t n) {
    std::apply([n](auto&... each) { ((each += n), ...); }, iterators_);
  }
  std::ptrdiff_t distance_from(const zip_iterator& other) const {
    return std::get<0>(iterators_) - std::get<0>(other.iterators_);
  }

 private:
  iterator_tuple iterators_;
};

template <class... Iterators>
zip_iterator<tuple<Iterators...>> make_zip_iterator(const tuple<Iterators...>& iterators) {
  return {iterators};
}
template <class First, class... Rest>
zip_iterator<tuple<First, Rest...>> make_zip_iterator(First first, Rest... rest) {
  return {std::make_tuple(first, rest...)};
}

// Lets a function of several parameters take the tuples of a zip_iterator.
template <class Function>
auto make_zip_function(Function function) {
  return [function](auto&& elements) mutable -> decltype(auto) {
    return std::apply(function, elements);
  };
}

}  // namespace thrust
