// hostcuda: libcu++'s <cuda/std/algorithm>, as std.h has the rest. libcu++ has no sort,
// stable_sort, stable_partition, inplace_merge and nth_element. Rest: iterators, values and
// functors.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

namespace cuda::std {

template <class It>
using difference_of = typename ::std::iterator_traits<It>::difference_type;

// The result is an iterator of the first range.
#define HOSTCUDA_FIRST(name)         \
  template <class It, class... Rest> \
  It name(It first, It last, Rest... rest);
// The result is an iterator of the second range, or of the output that follows the first range.
#define HOSTCUDA_SECOND(name)                   \
  template <class It, class Out, class... Rest> \
  Out name(It first, It last, Out out, Rest... rest);
// The result is an iterator of the output that follows two ranges.
#define HOSTCUDA_THIRD(name)                                 \
  template <class It, class Other, class Out, class... Rest> \
  Out name(It first, It last, Other other, Other other_last, Out out, Rest... rest);
#define HOSTCUDA_TEST(name)          \
  template <class It, class... Rest> \
  bool name(It first, It last, Rest... rest);
#define HOSTCUDA_CHANGE(name)        \
  template <class It, class... Rest> \
  void name(It first, It last, Rest... rest);
#define HOSTCUDA_PAIR(name)          \
  template <class It, class... Rest> \
  ::std::pair<It, It> name(It first, It last, Rest... rest);

HOSTCUDA_FIRST(adjacent_find)
HOSTCUDA_FIRST(find)
HOSTCUDA_FIRST(find_end)
HOSTCUDA_FIRST(find_first_of)
HOSTCUDA_FIRST(find_if)
HOSTCUDA_FIRST(find_if_not)
HOSTCUDA_FIRST(is_heap_until)
HOSTCUDA_FIRST(is_sorted_until)
HOSTCUDA_FIRST(lower_bound)
HOSTCUDA_FIRST(max_element)
HOSTCUDA_FIRST(min_element)
HOSTCUDA_FIRST(partition)
HOSTCUDA_FIRST(partition_point)
HOSTCUDA_FIRST(remove)
HOSTCUDA_FIRST(remove_if)
HOSTCUDA_FIRST(rotate)
HOSTCUDA_FIRST(search)
HOSTCUDA_FIRST(search_n)
HOSTCUDA_FIRST(shift_left)
HOSTCUDA_FIRST(shift_right)
HOSTCUDA_FIRST(unique)
HOSTCUDA_FIRST(upper_bound)

HOSTCUDA_SECOND(copy)
HOSTCUDA_SECOND(copy_backward)
HOSTCUDA_SECOND(copy_if)
HOSTCUDA_SECOND(move_backward)
HOSTCUDA_SECOND(partial_sort_copy)
HOSTCUDA_SECOND(remove_copy)
HOSTCUDA_SECOND(remove_copy_if)
HOSTCUDA_SECOND(replace_copy)
HOSTCUDA_SECOND(replace_copy_if)
HOSTCUDA_SECOND(reverse_copy)
HOSTCUDA_SECOND(swap_ranges)
HOSTCUDA_SECOND(unique_copy)

HOSTCUDA_THIRD(merge)
HOSTCUDA_THIRD(set_difference)
HOSTCUDA_THIRD(set_intersection)
HOSTCUDA_THIRD(set_symmetric_difference)
HOSTCUDA_THIRD(set_union)

HOSTCUDA_TEST(all_of)
HOSTCUDA_TEST(any_of)
HOSTCUDA_TEST(binary_search)
HOSTCUDA_TEST(equal)
HOSTCUDA_TEST(includes)
HOSTCUDA_TEST(is_heap)
HOSTCUDA_TEST(is_partitioned)
HOSTCUDA_TEST(is_permutation)
HOSTCUDA_TEST(is_sorted)
HOSTCUDA_TEST(lexicographical_compare)
HOSTCUDA_TEST(next_permutation)
HOSTCUDA_TEST(none_of)
HOSTCUDA_TEST(prev_permutation)

HOSTCUDA_CHANGE(fill)
HOSTCUDA_CHANGE(generate)
HOSTCUDA_CHANGE(make_heap)
HOSTCUDA_CHANGE(partial_sort)
HOSTCUDA_CHANGE(pop_heap)
HOSTCUDA_CHANGE(push_heap)
HOSTCUDA_CHANGE(replace)
HOSTCUDA_CHANGE(replace_if)
HOSTCUDA_CHANGE(reverse)
HOSTCUDA_CHANGE(sort_heap)

HOSTCUDA_PAIR(equal_range)
HOSTCUDA_PAIR(minmax_element)

#undef HOSTCUDA_FIRST
#undef HOSTCUDA_SECOND
#undef HOSTCUDA_THIRD
#undef HOSTCUDA_TEST
#undef HOSTCUDA_CHANGE
#undef HOSTCUDA_PAIR

template <class T>
constexpr ::std::remove_reference_t<T>&& move(T&& object) noexcept;
template <class It, class Out>
Out move(It first, It last, Out out);
template <class A, class B>
void iter_swap(A a, B b);
template <class It, class Size, class Out>
Out copy_n(It first, Size count, Out out);
template <class It, class T>
difference_of<It> count(It first, It last, const T& value);
template <class It, class Predicate>
difference_of<It> count_if(It first, It last, Predicate predicate);
template <class It, class Size, class T>
It fill_n(It first, Size count, const T& value);
template <class It, class Function>
Function for_each(It first, It last, Function function);
template <class It, class Size, class Function>
It for_each_n(It first, Size count, Function function);
template <class It, class Size, class Generator>
It generate_n(It first, Size count, Generator generator);
template <class It, class Other, class... Rest>
::std::pair<It, Other> mismatch(It first, It last, Other other, Rest... rest);
template <class It, class True, class False, class Predicate>
::std::pair<True, False> partition_copy(It first, It last, True yes, False no, Predicate predicate);
template <class It, class Out>
Out rotate_copy(It first, It middle, It last, Out out);
template <class It, class Out, class Function>
Out transform(It first, It last, Out out, Function function);
template <class It, class Other, class Out, class Function>
Out transform(It first, It last, Other other, Out out, Function function);

}  // namespace cuda::std
