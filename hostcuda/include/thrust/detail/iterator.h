// hostcuda: the base class of Thrust's iterators, and functions that convert these iterators to
// plain pointers.
#pragma once

#include <climits>  // included because Thrust's own header includes it
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace thrust {
namespace detail {

// Derived must have dereference(), advance(n) and distance_from(other).
template <class Derived, class Value, class Reference>
class random_access {
 public:
  using value_type = Value;
  using reference = Reference;
  using pointer = void;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;

  Reference operator*() const { return self().dereference(); }
  Reference operator[](difference_type n) const { return *(self() + n); }
  Derived& operator+=(difference_type n) {
    self().advance(n);
    return self();
  }
  Derived& operator-=(difference_type n) { return *this += -n; }
  Derived& operator++() { return *this += 1; }
  Derived& operator--() { return *this += -1; }
  Derived operator++(int) {
    Derived before = self();
    ++*this;
    return before;
  }
  Derived operator--(int) {
    Derived before = self();
    --*this;
    return before;
  }
  friend Derived operator+(Derived it, difference_type n) { return it += n; }
  friend Derived operator+(difference_type n, Derived it) { return it += n; }
  friend Derived operator-(Derived it, difference_type n) { return it -= n; }
  friend difference_type operator-(const Derived& a, const Derived& b) {
    return a.distance_from(b);
  }
  friend bool operator==(const Derived& a, const Derived& b) { return a - b == 0; }
  friend bool operator!=(const Derived& a, const Derived& b) { return a - b != 0; }
  friend bool operator<(const Derived& a, const Derived& b) { return a - b < 0; }
  friend bool operator>(const Derived& a, const Derived& b) { return a - b > 0; }
  friend bool operator<=(const Derived& a, const Derived& b) { return a - b <= 0; }
  friend bool operator>=(const Derived& a, const Derived& b) { return a - b >= 0; }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

// True if the iterator refers to device memory, directly or through another iterator.
template <class Iterator, class = void>
struct leads_to_device : std::false_type {};
template <class Iterator>
struct leads_to_device<Iterator, std::void_t<decltype(Iterator::kOnDevice)>>
    : std::bool_constant<Iterator::kOnDevice> {};
template <class... Iterators>
inline constexpr bool on_device = (leads_to_device<std::decay_t<Iterators>>::value || ...);

// Returns the same iterator with plain pointers inside, for code that runs where the memory is.
template <class Iterator>
auto raw(const Iterator& it) {
  if constexpr (on_device<Iterator>)
    return it.raw();
  else
    return it;
}

template <class Iterator>
using raw_t = decltype(raw(std::declval<Iterator>()));
template <class Iterator>
using value_t = typename std::iterator_traits<Iterator>::value_type;

}  // namespace detail

template <class Iterator>
using iterator_value_t = detail::value_t<Iterator>;
template <class Iterator>
struct iterator_value {
  using type = detail::value_t<Iterator>;
};
template <class Iterator>
struct iterator_difference {
  using type = typename std::iterator_traits<Iterator>::difference_type;
};
template <class Iterator>
struct iterator_traits : std::iterator_traits<Iterator> {};

using std::advance;
using std::distance;

}  // namespace thrust
