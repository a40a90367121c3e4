// hostcuda: an iterator that applies a function to another iterator's values.
#pragma once

#include "../detail/iterator.h"

namespace thrust {

namespace detail {
template <class Function, class Iterator>
using result_t = std::decay_t<decltype(std::declval<Function&>()(*std::declval<Iterator&>()))>;
}  // namespace detail

template <class Function, class Iterator, class... Options>
class transform_iterator
    : public detail::random_access<transform_iterator<Function, Iterator, Options...>,
                                   detail::result_t<Function, detail::raw_t<Iterator>>,
                                   detail::result_t<Function, detail::raw_t<Iterator>>> {
 public:
  static constexpr bool kOnDevice = detail::on_device<Iterator>;

  transform_iterator(Iterator base, Function function) : base_(base), function_(function) {}
  explicit transform_iterator(Iterator base) : transform_iterator(base, Function()) {}
  const Iterator& base() const { return base_; }

  auto raw() const {
    return transform_iterator<Function, detail::raw_t<Iterator>>(detail::raw(base_), function_);
  }
  auto dereference() const {
    const detail::value_t<Iterator> value = *base_;
    Function function = function_;
    return static_cast<detail::result_t<Function, detail::raw_t<Iterator>>>(function(value));
  }
  void advance(std::ptrdiff_t n) { base_ += n; }
  std::ptrdiff_t distance_from(const transform_iterator& other) const {
    return base_ - other.base_;
  }
  // Assignment leaves the function unchanged, because a lambda cannot be assigned.
  transform_iterator(const transform_iterator&) = default;
  transform_iterator& operator=(const transform_iterator& other) {
    base_ = other.base_;
    return *this;
  }

 private:
  Iterator base_;
  Function function_;
};
template <class Function, class Iterator>
transform_iterator<Function, Iterator> make_transform_iterator(Iterator base, Function function) {
  return {base, function};
}

}  // namespace thrust
