// hostcuda: thrust::make_reverse_iterator.
#pragma once

#include "../detail/iterator.h"

namespace thrust {

template <class Iterator>
class reverse_iterator
    : public detail::random_access<reverse_iterator<Iterator>, detail::value_t<Iterator>,
                                   typename std::iterator_traits<Iterator>::reference> {
 public:
  static constexpr bool kOnDevice = detail::on_device<Iterator>;

  explicit reverse_iterator(Iterator base) : base_(base) {}
  const Iterator& base() const { return base_; }
  auto raw() const { return reverse_iterator<detail::raw_t<Iterator>>(detail::raw(base_)); }
  typename std::iterator_traits<Iterator>::reference dereference() const { return *(base_ - 1); }
  void advance(std::ptrdiff_t n) { base_ -= n; }
  std::ptrdiff_t distance_from(const reverse_iterator& other) const { return other.base_ - base_; }

 private:
  Iterator base_;
};
template <class Iterator>
reverse_iterator<Iterator> make_reverse_iterator(Iterator base) {
  return reverse_iterator<Iterator>(base);
}

}  // namespace thrust
