// hostcuda: counting_iterator and constant_iterator, which compute their values without memory.
#pragma once

#include "../detail/iterator.h"

namespace thrust {

template <class T, class... Options>
class counting_iterator : public detail::random_access<counting_iterator<T, Options...>, T, T> {
 public:
  counting_iterator() = default;
  explicit counting_iterator(T value) : value_(value) {}
  T dereference() const { return value_; }
  void advance(std::ptrdiff_t n) { value_ = static_cast<T>(value_ + static_cast<T>(n)); }
  std::ptrdiff_t distance_from(const counting_iterator& other) const {
    return static_cast<std::ptrdiff_t>(value_) - static_cast<std::ptrdiff_t>(other.value_);
  }

 private:
  T value_{};
};
template <class T>
counting_iterator<T> make_counting_iterator(T value) {
  return counting_iterator<T>(value);
}

template <class T>
class constant_iterator : public detail::random_access<constant_iterator<T>, T, T> {
 public:
  explicit constant_iterator(T value, std::ptrdiff_t index = 0) : value_(value), index_(index) {}
  T dereference() const { return value_; }
  void advance(std::ptrdiff_t n) { index_ += n; }
  std::ptrdiff_t distance_from(const constant_iterator& other) const {
    return index_ - other.index_;
  }

 private:
  T value_;
  std::ptrdiff_t index_;
};
template <class T>
constant_iterator<T> make_constant_iterator(T value, std::ptrdiff_t index = 0) {
  return constant_iterator<T>(value, index);
}

}  // namespace thrust
