// hostcuda: an iterator that visits elements in the order of another iterator's indices.
#pragma once

#include "../detail/iterator.h"

namespace thrust {

template <class Elements, class Order>
class permutation_iterator
    : public detail::random_access<permutation_iterator<Elements, Order>, detail::value_t<Elements>,
                                   typename std::iterator_traits<Elements>::reference> {
 public:
  static constexpr bool kOnDevice = detail::on_device<Elements, Order>;

  permutation_iterator(Elements elements, Order order) : elements_(elements), order_(order) {}
  auto raw() const {
    return permutation_iterator<detail::raw_t<Elements>, detail::raw_t<Order>>(
        detail::raw(elements_), detail::raw(order_));
  }
  typename std::iterator_traits<Elements>::reference dereference() const {
    const detail::value_t<Order> index = *order_;
    return elements_[static_cast<std::ptrdiff_t>(index)];
  }
  void advance(std::ptrdiff_t n) { order_ += n; }
  std::ptrdiff_t distance_from(const permutation_iterator& other) const {
    return order_ - other.order_;
  }

 private:
  Elements elements_;
  Order order_;
};
template <class Elements, class Order>
permutation_iterator<Elements, Order> make_permutation_iterator(Elements elements, Order order) {
  return {elements, order};
}

}  // namespace thrust
