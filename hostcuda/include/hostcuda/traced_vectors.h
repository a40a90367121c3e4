// Vector types for traced programs, in which copying a float4 is one 16-byte access, as on a GPU.
// The compiler's own instrumentation would record four 4-byte accesses.
#pragma once

namespace hostcuda {

// Reports that the code at `caller` copied a value of a vector type.
void vector_copied(const void* from, const void* to, unsigned long size, const void* caller);

}  // namespace hostcuda

// The copy function is not inlined, because its return address identifies the copy, and it is not
// instrumented, because the access would be counted twice.
#define HOSTCUDA_TRACED_COPY __attribute__((noinline, no_sanitize("thread")))

#define HOSTCUDA_TELL_COPY(other)         \
  if (!__builtin_is_constant_evaluated()) \
  ::hostcuda::vector_copied(&other, this, sizeof other, __builtin_return_address(0))

// How a pair is copied, also a __half2.
#define HOSTCUDA_COPIES_OF_PAIR(Name)                                                            \
  HOSTCUDA_TRACED_COPY constexpr Name(const Name& o) : x(o.x), y(o.y) { HOSTCUDA_TELL_COPY(o); } \
  HOSTCUDA_TRACED_COPY constexpr Name& operator=(const Name& o) {                                \
    x = o.x, y = o.y;                                                                            \
    HOSTCUDA_TELL_COPY(o);                                                                       \
    return *this;                                                                                \
  }
#define HOSTCUDA_VECTOR2(Name, Scalar, Alignment)          \
  struct __attribute__((aligned(Alignment))) Name {        \
    Scalar x, y;                                           \
    Name() = default;                                      \
    constexpr Name(Scalar x_, Scalar y_) : x(x_), y(y_) {} \
    HOSTCUDA_COPIES_OF_PAIR(Name)                          \
  };                                                       \
  constexpr inline Name make_##Name(Scalar x, Scalar y) { return Name{x, y}; }
#define HOSTCUDA_VECTOR4(Name, Scalar, Alignment)                                              \
  struct __attribute__((aligned(Alignment))) Name {                                            \
    Scalar x, y, z, w;                                                                         \
    Name() = default;                                                                          \
    constexpr Name(Scalar x_, Scalar y_, Scalar z_, Scalar w_) : x(x_), y(y_), z(z_), w(w_) {} \
    HOSTCUDA_TRACED_COPY constexpr Name(const Name& o) : x(o.x), y(o.y), z(o.z), w(o.w) {      \
      HOSTCUDA_TELL_COPY(o);                                                                   \
    }                                                                                          \
    HOSTCUDA_TRACED_COPY constexpr Name& operator=(const Name& o) {                            \
      x = o.x, y = o.y, z = o.z, w = o.w;                                                      \
      HOSTCUDA_TELL_COPY(o);                                                                   \
      return *this;                                                                            \
    }                                                                                          \
  };                                                                                           \
  constexpr inline Name make_##Name(Scalar x, Scalar y, Scalar z, Scalar w) {                  \
    return Name{x, y, z, w};                                                                   \
  }
