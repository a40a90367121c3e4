// hostcuda: Thrust's pointers to device memory. Host code that reads or writes through a device_ptr
// copies between host and device.
#pragma once

#include <memory>
#include <utility>

#include "detail/iterator.h"
#include "system_error.h"

namespace thrust {

template <class T>
class device_reference;

// Reference is the type of *pointer: device_reference, or T& if host code may access the memory.
template <class T, class Reference>
class address_of
    : public detail::random_access<address_of<T, Reference>, std::remove_cv_t<T>, Reference> {
 public:
  static constexpr bool kOnDevice = true;
  using element_type = T;

  address_of() = default;
  address_of(std::nullptr_t) {}
  explicit address_of(T* address) : address_(address) {}
  template <class U, class R, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  address_of(const address_of<U, R>& other) : address_(other.get()) {}
  template <class R>
  explicit address_of(const address_of<void, R>& other) : address_(static_cast<T*>(other.get())) {}

  T* get() const { return address_; }
  T* raw() const { return address_; }
  explicit operator bool() const { return address_ != nullptr; }

  Reference dereference() const {
    if constexpr (std::is_lvalue_reference_v<Reference>)
      return *address_;
    else
      return Reference(*this);
  }
  void advance(std::ptrdiff_t n) { address_ += n; }
  std::ptrdiff_t distance_from(const address_of& other) const { return address_ - other.address_; }

 private:
  T* address_ = nullptr;
};

template <class Reference>
class address_of<void, Reference> {
 public:
  using element_type = void;
  address_of() = default;
  address_of(std::nullptr_t) {}
  explicit address_of(void* address) : address_(address) {}
  template <class U, class R>
  address_of(const address_of<U, R>& other) : address_(other.get()) {}
  void* get() const { return address_; }
  explicit operator bool() const { return address_ != nullptr; }

 private:
  void* address_ = nullptr;
};

template <class T>
using device_ptr = address_of<T, device_reference<T>>;
template <class T>
using universal_ptr = address_of<T, T&>;

namespace detail {

template <class T>
T copied_from_device(const T* address) {
  if (hostcuda::in_kernel()) return *address;
  alignas(T) unsigned char bytes[sizeof(T)];
  throw_on_error(cudaMemcpy(bytes, address, sizeof(T), cudaMemcpyDeviceToHost), "reading a value");
  return *reinterpret_cast<T*>(bytes);
}

template <class T>
void copy_to_device(T* address, const T& value) {
  if (hostcuda::in_kernel())
    *address = value;
  else
    throw_on_error(cudaMemcpy(address, std::addressof(value), sizeof(T), cudaMemcpyHostToDevice),
                   "writing a value");
}

}  // namespace detail

template <class T>
class device_reference {
 public:
  using value_type = std::remove_cv_t<T>;

  explicit device_reference(device_ptr<T> p) : address_(p.get()) {}
  device_reference(const device_reference&) = default;
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  device_reference(const device_reference<U>& other) : address_((&other).get()) {}

  operator value_type() const { return detail::copied_from_device<value_type>(address_); }
  device_ptr<T> operator&() const { return device_ptr<T>(address_); }

  const device_reference& operator=(const value_type& value) const {
    detail::copy_to_device<value_type>(address_, value);
    return *this;
  }
  device_reference& operator=(const device_reference& other) {
    *this = static_cast<value_type>(other);
    return *this;
  }
#define HOSTCUDA_ASSIGN(operation)                                            \
  const device_reference& operator operation##=(const value_type& by) const { \
    return *this = static_cast<value_type>(*this) operation by;               \
  }
  HOSTCUDA_ASSIGN(+)
  HOSTCUDA_ASSIGN(-)
  HOSTCUDA_ASSIGN(*)
  HOSTCUDA_ASSIGN(/)
  HOSTCUDA_ASSIGN(%)
  HOSTCUDA_ASSIGN(&)
  HOSTCUDA_ASSIGN(|)
  HOSTCUDA_ASSIGN(^)
#undef HOSTCUDA_ASSIGN
  const device_reference& operator++() const { return *this += 1; }
  const device_reference& operator--() const { return *this -= 1; }
  friend void swap(device_reference a, device_reference b) {
    const value_type kept = a;
    a = static_cast<value_type>(b);
    b = kept;
  }

 private:
  T* address_;
};

template <class T>
T* raw_pointer_cast(T* p) {
  return p;
}
template <class T, class Reference>
T* raw_pointer_cast(const address_of<T, Reference>& p) {
  return p.get();
}
template <class T>
T& raw_reference_cast(device_reference<T> reference) {
  return *(&reference).get();
}
template <class T>
T& raw_reference_cast(T& reference) {
  return reference;
}
template <class T>
device_ptr<T> device_pointer_cast(T* p) {
  return device_ptr<T>(p);
}
template <class T>
device_ptr<T> device_pointer_cast(const device_ptr<T>& p) {
  return p;
}

template <class T>
device_ptr<T> device_malloc(std::size_t count) {
  return device_ptr<T>(static_cast<T*>(detail::allocated(count * sizeof(T), "device_malloc")));
}
inline device_ptr<void> device_malloc(std::size_t bytes) {
  return device_malloc<unsigned char>(bytes);
}
inline void device_free(device_ptr<void> p) {
  detail::throw_on_error(cudaFree(p.get()), "device_free");
}

}  // namespace thrust
