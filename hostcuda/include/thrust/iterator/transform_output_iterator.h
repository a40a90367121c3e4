// hostcuda: an output iterator that stores a function of each value in another iterator's element.
#pragma once

#include "../detail/iterator.h"

namespace thrust {

namespace detail {
template <class Function, class Iterator>
struct transforms_on_assignment {
  Iterator at;
  Function function;
  template <class T>
  const transforms_on_assignment& operator=(const T& value) const {
    Function changes = function;
    *at = changes(value);
    return *this;
  }
};
}  // namespace detail

template <class Function, class Iterator>
class transform_output_iterator
    : public detail::random_access<transform_output_iterator<Function, Iterator>,
                                   detail::value_t<Iterator>,
                                   detail::transforms_on_assignment<Function, Iterator>> {
 public:
  static constexpr bool kOnDevice = detail::on_device<Iterator>;

  transform_output_iterator(Iterator base, Function function) : base_(base), function_(function) {}
  transform_output_iterator(const transform_output_iterator&) = default;
  // Assignment leaves the function unchanged, because a lambda cannot be assigned.
  transform_output_iterator& operator=(const transform_output_iterator& other) {
    base_ = other.base_;
    return *this;
  }
  const Iterator& base() const { return base_; }

  auto raw() const {
    return transform_output_iterator<Function, detail::raw_t<Iterator>>(detail::raw(base_),
                                                                        function_);
  }
  detail::transforms_on_assignment<Function, Iterator> dereference() const {
    return {base_, function_};
  }
  void advance(std::ptrdiff_t n) { base_ += n; }
  std::ptrdiff_t distance_from(const transform_output_iterator& other) const {
    return base_ - other.base_;
  }

 private:
  Iterator base_;
  Function function_;
};
template <class Function, class Iterator>
transform_output_iterator<Function, Iterator> make_transform_output_iterator(Iterator base,
                                                                             Function function) {
  return {base, function};
}

}  // namespace thrust
