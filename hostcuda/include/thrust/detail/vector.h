// hostcuda: the class behind host_vector, device_vector and universal_vector.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "../copy.h"
#include "../device_ptr.h"
#include "../fill.h"
#include "../iterator/reverse_iterator.h"
#include "../iterator/zip_iterator.h"  // programs rely on Thrust's vectors for it

namespace thrust {
namespace detail {

struct host_memory {
  template <class T>
  using pointer = T*;
  using policy = host_policy;
  static void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  static void release(void* memory) { ::operator delete(memory); }
};
struct device_memory {
  template <class T>
  using pointer = device_ptr<T>;
  using policy = device_policy;
  static void* allocate(std::size_t bytes) { return allocated(bytes, "device_vector"); }
  static void release(void* memory) { cudaFree(memory); }
};
struct universal_memory : device_memory {
  template <class T>
  using pointer = universal_ptr<T>;
  static void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    throw_on_error(cudaMallocManaged(&memory, bytes), "universal_vector");
    return memory;
  }
};

template <class T, class Memory>
class vector {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = typename Memory::template pointer<T>;
  using const_pointer = typename Memory::template pointer<const T>;
  using iterator = pointer;
  using const_iterator = const_pointer;
  using reference = typename std::iterator_traits<pointer>::reference;
  using const_reference = typename std::iterator_traits<const_pointer>::reference;
  using reverse_iterator = thrust::reverse_iterator<iterator>;

  vector() = default;
  explicit vector(size_type count) : vector(count, T()) {}
  vector(size_type count, const T& value) { resize(count, value); }
  vector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
  vector(Iterator first, Iterator last) {
    assign(first, last);
  }
  vector(const vector& other) { assign(other.begin(), other.end()); }
  vector(vector&& other) noexcept { swap(other); }
  template <class U, class Other>
  vector(const vector<U, Other>& other) {
    assign(other.begin(), other.end());
  }
  template <class U, class Allocator>
  vector(const std::vector<U, Allocator>& other) {
    assign(other.begin(), other.end());
  }
  ~vector() {
    clear();
    if (memory_) Memory::release(memory_);
  }

  vector& operator=(const vector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  vector& operator=(vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <class U, class Other>
  vector& operator=(const vector<U, Other>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  template <class U, class Allocator>
  vector& operator=(const std::vector<U, Allocator>& other) {
    assign(other.begin(), other.end());
    return *this;
  }

  template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
  void assign(Iterator first, Iterator last) {
    resize(static_cast<size_type>(std::distance(first, last)));
    thrust::copy(first, last, begin());
  }
  void assign(size_type count, const T& value) {
    clear();
    resize(count, value);
  }

  iterator begin() { return iterator(memory_); }
  iterator end() { return begin() + static_cast<difference_type>(size_); }
  const_iterator begin() const { return const_iterator(memory_); }
  const_iterator end() const { return begin() + static_cast<difference_type>(size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  pointer data() { return begin(); }
  const_pointer data() const { return begin(); }

  size_type size() const { return size_; }
  size_type capacity() const { return capacity_; }
  size_type max_size() const { return static_cast<size_type>(-1) / sizeof(T); }
  bool empty() const { return size_ == 0; }
  reference operator[](size_type i) { return begin()[static_cast<difference_type>(i)]; }
  const_reference operator[](size_type i) const { return begin()[static_cast<difference_type>(i)]; }
  reference at(size_type i) {
    if (i >= size_) throw std::out_of_range("thrust: vector::at");
    return (*this)[i];
  }
  reference front() { return (*this)[0]; }
  reference back() { return (*this)[size_ - 1]; }
  const_reference front() const { return (*this)[0]; }
  const_reference back() const { return (*this)[size_ - 1]; }

  void reserve(size_type count) {
    if (count <= capacity_) return;
    vector grown;
    grown.memory_ = static_cast<T*>(Memory::allocate(count * sizeof(T)));
    grown.capacity_ = count;
    grown.construct(0, size_, T());
    grown.size_ = size_;
    thrust::copy(begin(), end(), grown.begin());
    swap(grown);
  }
  void resize(size_type count, const T& value = T()) {
    reserve(count);
    if (count > size_)
      construct(size_, count, value);
    else
      destroy(count, size_);
    size_ = count;
  }
  void clear() { resize(0); }
  void shrink_to_fit() {
    vector exact(begin(), end());
    swap(exact);
  }
  void push_back(const T& value) {
    const T kept = value;  // `value` may be an element of this vector
    if (size_ == capacity_) reserve(size_ ? 2 * size_ : 1);
    resize(size_ + 1, kept);
  }
  void pop_back() { resize(size_ - 1); }
  iterator erase(iterator position) { return erase(position, position + 1); }
  iterator erase(iterator first, iterator last) {
    const vector rest(last, end());
    thrust::copy(rest.begin(), rest.end(), first);
    resize(size_ - static_cast<size_type>(last - first));
    return first;
  }
  iterator insert(iterator position, const T& value) {
    return insert(position, &value, &value + 1);
  }
  void insert(iterator position, size_type count, const T& value) {
    const vector<T, host_memory> values(count, value);
    insert(position, values.begin(), values.end());
  }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
  iterator insert(iterator position, Iterator first, Iterator last) {
    const difference_type before = position - begin();
    const vector rest(position, end()), added(first, last);
    resize(size_ + added.size());
    thrust::copy(rest.begin(), rest.end(),
                 thrust::copy(added.begin(), added.end(), begin() + before));
    return begin() + before;
  }
  void swap(vector& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  friend void swap(vector& a, vector& b) noexcept { a.swap(b); }

 private:
  void construct(size_type first, size_type last, const T& value) {
    in_parallel(typename Memory::policy(), "thrust::uninitialized_fill",
                static_cast<difference_type>(last - first),
                [to = memory_ + first, value](difference_type i) { ::new (to + i) T(value); });
  }
  void destroy(size_type first, size_type last) {
    if constexpr (!std::is_trivially_destructible_v<T>)
      in_parallel(typename Memory::policy(), "thrust::destroy",
                  static_cast<difference_type>(last - first),
                  [from = memory_ + first](difference_type i) { from[i].~T(); });
  }

  T* memory_ = nullptr;
  size_type size_ = 0, capacity_ = 0;
};

template <class A, class B>
bool have_equal_values(const A& a, const B& b) {
  const vector<typename A::value_type, host_memory> here(a);
  const vector<typename B::value_type, host_memory> there(b);
  return a.size() == b.size() && std::equal(here.begin(), here.end(), there.begin());
}
template <class T, class Memory, class U, class Other>
bool operator==(const vector<T, Memory>& a, const vector<U, Other>& b) {
  return have_equal_values(a, b);
}
template <class T, class Memory, class U, class Allocator>
bool operator==(const vector<T, Memory>& a, const std::vector<U, Allocator>& b) {
  return have_equal_values(a, b);
}
template <class T, class Allocator, class U, class Other>
bool operator==(const std::vector<T, Allocator>& a, const vector<U, Other>& b) {
  return have_equal_values(a, b);
}
template <class T, class Memory, class Other>
bool operator!=(const vector<T, Memory>& a, const Other& b) {
  return !(a == b);
}

}  // namespace detail

template <class T, class Allocator = void>
using host_vector = detail::vector<T, detail::host_memory>;
template <class T, class Allocator = void>
using device_vector = detail::vector<T, detail::device_memory>;
template <class T, class Allocator = void>
using universal_vector = detail::vector<T, detail::universal_memory>;

}  // namespace thrust
