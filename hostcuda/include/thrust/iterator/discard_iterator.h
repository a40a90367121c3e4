// hostcuda: an output iterator that discards the values written to it.
#pragma once

#include "../detail/iterator.h"

namespace thrust {

namespace detail {
struct discarded {
  discarded() = default;
  template <class T>
  discarded(const T&) {}
};
}  // namespace detail

template <class = void>
class discard_iterator
    : public detail::random_access<discard_iterator<>, detail::discarded, detail::discarded> {
 public:
  explicit discard_iterator(std::ptrdiff_t index = 0) : index_(index) {}
  detail::discarded dereference() const { return {}; }
  void advance(std::ptrdiff_t n) { index_ += n; }
  std::ptrdiff_t distance_from(const discard_iterator& other) const {
    return index_ - other.index_;
  }

 private:
  std::ptrdiff_t index_;
};
inline discard_iterator<> make_discard_iterator(std::ptrdiff_t index = 0) {
  return discard_iterator<>(index);
}

}  // namespace thrust
