// hostcuda: the instructions of inline PTX. launcher/ptx.py translates an asm statement to calls of
// these functions; a register becomes a variable, and `as` converts it to the instruction's type.
#pragma once

#include <cfloat>
#include <cstring>
#include <limits>
#include <type_traits>

#include "../../cuda_bf16.h"
#include "../../cuda_fp16.h"
#include "async_copies.h"
#include "matrices.h"

namespace hostcuda {
namespace ptx {

using Half = ::__half;
using Bfloat16 = ::__nv_bfloat16;
using Half2 = ::__half2;
using Bfloat162 = ::__nv_bfloat162;

inline unsigned thread() { return rank_in_block(); }

// Converts integers to each other; between other types of the same size, copies the bits.
template <class To, class From>
To as(const From& from) {
  using Target = std::remove_volatile_t<To>;
  if constexpr (std::is_pointer_v<From>) {
    return as<To>(reinterpret_cast<unsigned long long>(from));
  } else if constexpr (std::is_same_v<Target, From>) {
    return from;
  } else if constexpr (std::is_integral_v<Target> && std::is_integral_v<From>) {
    return static_cast<To>(from);
  } else if constexpr (sizeof(Target) == sizeof(From)) {
    Target to;
    std::memcpy(&to, &from, sizeof to);
    return to;
  } else if constexpr (std::is_integral_v<From> || std::is_integral_v<Target>) {
    static_assert(sizeof(Target) <= 8 && sizeof(From) <= 8);
    unsigned long long bits = 0;
    std::memcpy(&bits, &from, sizeof from);
    Target to;
    std::memcpy(&to, &bits, sizeof to);
    return to;
  } else {
    return static_cast<To>(from);  // an immediate number
  }
}
template <class To, class From>
void set(To& to, const From& from) {
  to = as<To>(from);
}
template <class From>
unsigned bits_of(const From& from) {
  return as<unsigned>(from);
}
template <class To>
void set_bits(To& to, unsigned bits) {
  to = as<To>(bits);
}

// mov.b64 x, {a, b}; and mov.b64 {a, b}, x; the first part is the lowest.
template <class To, class... Parts>
void join(To& to, const Parts&... parts) {
  static_assert((sizeof(Parts) + ...) == sizeof(To));
  char bytes[sizeof to], *end = bytes;
  ((std::memcpy(end, &parts, sizeof parts), end += sizeof parts), ...);
  std::memcpy(&to, bytes, sizeof to);
}
template <class From, class... Parts>
void split(const From& from, Parts&... parts) {
  static_assert((sizeof(Parts) + ...) == sizeof(From));
  const char* next = reinterpret_cast<const char*>(&from);
  ((std::memcpy(&parts, next, sizeof parts), next += sizeof parts), ...);
}

// ---- arithmetic ---------------------------------------------------------------------------------

// Integers wrap around, as in PTX.
template <class T>
using Modular =
    std::conditional_t<!std::is_integral_v<T>, T,
                       std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>>;
template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a == b ? (signbit(a) ? a : b) : ::fmin(a, b);
  else
    return b < a ? b : a;
}
template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a == b ? (signbit(a) ? b : a) : ::fmax(a, b);
  else
    return a < b ? b : a;
}
// .sat: NaN becomes 0.
template <class T>
T saturated(T value) {
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
}

#define HOSTCUDA_PTX(name, result)               \
  template <class T, class A, class B>           \
  T name(const A& first, const B& second) {      \
    const T a = as<T>(first), b = as<T>(second); \
    return static_cast<T>(result);               \
  }
template <class T>
bool signbit_of(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return signbit(a);
  else
    return a < T(0);
}
#define HOSTCUDA_PTX_TEST(name, result)          \
  template <class T, class A, class B>           \
  bool name(const A& first, const B& second) {   \
    const T a = as<T>(first), b = as<T>(second); \
    return result;                               \
  }
#define HOSTCUDA_PTX_UNARY(name, result)       \
  template <class T, class A>                  \
  T op_##name(const A& first) {                \
    [[maybe_unused]] const T a = as<T>(first); \
    return static_cast<T>(result);             \
  }
HOSTCUDA_PTX(add, Modular<T>(a) + Modular<T>(b))
HOSTCUDA_PTX(sub, Modular<T>(a) - Modular<T>(b))
HOSTCUDA_PTX(mul, Modular<T>(a) * Modular<T>(b))
HOSTCUDA_PTX(div, a / b)
HOSTCUDA_PTX(rem, a % b)
HOSTCUDA_PTX(and_, a& b)
HOSTCUDA_PTX(or_, a | b)
HOSTCUDA_PTX(xor_, a ^ b)
HOSTCUDA_PTX(min, smaller<T>(a, b))
HOSTCUDA_PTX(max, larger<T>(a, b))
HOSTCUDA_PTX_TEST(eq, a == b)
HOSTCUDA_PTX_TEST(ne, a < b || b < a)  // false for NaN
HOSTCUDA_PTX_TEST(lt, a < b)
HOSTCUDA_PTX_TEST(le, a <= b)
HOSTCUDA_PTX_TEST(gt, a > b)
HOSTCUDA_PTX_TEST(ge, a >= b)
HOSTCUDA_PTX_UNARY(not, ~a)
HOSTCUDA_PTX_UNARY(neg, -Modular<T>(a))
HOSTCUDA_PTX_UNARY(abs, signbit_of(a) ? -Modular<T>(a) : Modular<T>(a))
HOSTCUDA_PTX_UNARY(popc, __builtin_popcountll(a))
HOSTCUDA_PTX_UNARY(clz, sizeof a == 8 ? __clzll(as<long long>(a)) : __clz(as<int>(a)))
HOSTCUDA_PTX_UNARY(brev, sizeof a == 8 ? __brevll(a) : __brev(as<unsigned>(a)))
HOSTCUDA_PTX_UNARY(sqrt, ::sqrt(a))
HOSTCUDA_PTX_UNARY(rsqrt, 1 / ::sqrt(a))
HOSTCUDA_PTX_UNARY(rcp, 1 / a)
HOSTCUDA_PTX_UNARY(ex2, ::exp2(a))
HOSTCUDA_PTX_UNARY(lg2, ::log2(a))
HOSTCUDA_PTX_UNARY(sin, ::sin(a))
HOSTCUDA_PTX_UNARY(cos, ::cos(a))
HOSTCUDA_PTX_UNARY(tanh, ::tanh(a))
#undef HOSTCUDA_PTX
#undef HOSTCUDA_PTX_TEST
#undef HOSTCUDA_PTX_UNARY

// A shift by at least the number of bits in T leaves 0, or only copies of the sign bit.
template <class T, class A, class B>
T shl(const A& a, const B& by) {
  const auto bits = as<unsigned>(by);
  return bits < 8 * sizeof(T) ? static_cast<T>(as<std::make_unsigned_t<T>>(a) << bits) : T{0};
}
template <class T, class A, class B>
T shr(const A& a, const B& by) {
  constexpr unsigned kBits = 8 * sizeof(T);
  const auto bits = as<unsigned>(by);
  if (bits >= kBits) return as<T>(a) < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(as<T>(a) >> bits);
}
template <class T, class A, class B>
T mul_hi(const A& a, const B& b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>(static_cast<Wide>(as<T>(a)) * as<T>(b) >> 8 * sizeof(T));
}
template <class T, class A, class B>
T mul_lo(const A& a, const B& b) {
  return mul<T>(a, b);
}
// mul24, mad24: the lowest or the highest 32 bits of the product of the lowest 24 bits.
template <class T, class A, class B>
long long product_of_24_bits(const A& a, const B& b) {
  return static_cast<long long>(static_cast<T>(as<unsigned>(a) << 8) >> 8) *
         (static_cast<T>(as<unsigned>(b) << 8) >> 8);
}
template <class T, class A, class B>
T mul24_lo(const A& a, const B& b) {
  return static_cast<T>(product_of_24_bits<T>(a, b));
}
template <class T, class A, class B>
T mul24_hi(const A& a, const B& b) {
  return static_cast<T>(product_of_24_bits<T>(a, b) >> 16);
}
template <class T, class A, class B, class C>
T fma(const A& a, const B& b, const C& c);
template <class T, class A, class B, class C>
T mad(const A& a, const B& b, const C& c) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(Modular<T>(as<T>(a)) * Modular<T>(as<T>(b)) + Modular<T>(as<T>(c)));
  else
    return fma<T>(a, b, c);
}
template <class T, class A, class B, class C>
T fma(const A& a, const B& b, const C& c) {
  if constexpr (std::is_same_v<T, Half2> || std::is_same_v<T, Bfloat162>)
    return __hfma2(as<T>(a), as<T>(b), as<T>(c));
  else
    return T(::fma(as<T>(a), as<T>(b), as<T>(c)));
}
template <class T, class A, class B, class C>
T bfe(const A& a, const B& begin, const C& count) {
  const auto first = as<unsigned>(begin) & 255u, bits = as<unsigned>(count) & 255u;
  if (bits == 0) return 0;
  const T shifted = shr<T>(a, first);
  if (bits >= 8 * sizeof(T)) return shifted;
  const auto rest = 8 * static_cast<unsigned>(sizeof(T)) - bits;
  return shr<T>(shl<T>(shifted, rest), rest);
}
// bfi: a copy of `into` in which the lowest `count` bits of `bits` replace those from `begin` on.
template <class T, class A, class B, class C, class D>
T bfi(const A& bits, const B& into, const C& begin, const D& count) {
  const auto first = as<unsigned>(begin) & 255u, number = as<unsigned>(count) & 255u;
  const T low = number < 8 * sizeof(T) ? static_cast<T>((T{1} << number) - 1) : ~T{0};
  const T mask = shl<T>(low, first);
  return (as<T>(into) & ~mask) | (shl<T>(bits, first) & mask);
}
template <class T, class A, class B, class C>
T sad(const A& first, const B& second, const C& more) {
  const T a = as<T>(first), b = as<T>(second);
  const Modular<T> difference =
      a < b ? Modular<T>(b) - Modular<T>(a) : Modular<T>(a) - Modular<T>(b);
  return static_cast<T>(difference + Modular<T>(as<T>(more)));
}

// add.cc, addc, sub.cc, subc: kReads adds or subtracts the thread's carry, kSets stores a new one.
template <class T, bool kReads, bool kSets, class A, class B>
T carry_add(const A& a, const B& b) {
  using Word = std::make_unsigned_t<T>;
  Word sum = static_cast<Word>(as<T>(a));
  bool over = __builtin_add_overflow(sum, static_cast<Word>(as<T>(b)), &sum);
  if (kReads) over |= __builtin_add_overflow(sum, Word{carry}, &sum);
  if (kSets) carry = over;
  return static_cast<T>(sum);
}
template <class T, bool kReads, bool kSets, class A, class B>
T carry_sub(const A& a, const B& b) {
  using Word = std::make_unsigned_t<T>;
  Word rest = static_cast<Word>(as<T>(a));
  bool over = __builtin_sub_overflow(rest, static_cast<Word>(as<T>(b)), &rest);
  if (kReads) over |= __builtin_sub_overflow(rest, Word{carry}, &rest);
  if (kSets) carry = over;
  return static_cast<T>(rest);
}

// .ftz: a number that is too small for the format's usual precision becomes a zero of its sign.
template <class T, class A>
T flushed(const A& from) {
  T value = as<T>(from);
  if constexpr (std::is_same_v<T, float>) {
    if (::fabsf(value) < FLT_MIN) value = ::copysignf(0.0f, value);
  } else if constexpr (std::is_same_v<T, Half>) {
    if ((value.bits & 0x7c00) == 0) value.bits &= 0x8000;
  } else if constexpr (std::is_same_v<T, Half2>) {
    value = Half2(flushed<Half>(value.x), flushed<Half>(value.y));
  }
  return value;
}
inline unsigned lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned result = 0;
  for (unsigned k = 0; k < 8; ++k)
    if (table >> k & 1) result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return result;
}

// `rounding` to an integer is 0 (towards zero), 1 (to nearest), 2 (down), 3 (up) or -1 (none).
template <class To, class From>
To convert(From from, int rounding) {
  if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const double exact = static_cast<double>(from);
    const double whole = rounding == 1   ? ::rint(exact)
                         : rounding == 2 ? ::floor(exact)
                         : rounding == 3 ? ::ceil(exact)
                                         : ::trunc(exact);
    constexpr To kLowest = std::numeric_limits<To>::lowest(), kMax = std::numeric_limits<To>::max();
    if (whole != whole)
      return sizeof(From) < 8 && sizeof(To) < 8 ? To{0} : To(1ull << (8 * sizeof(To) - 1));
    return whole <= static_cast<double>(kLowest) ? kLowest
           : whole >= static_cast<double>(kMax)  ? kMax
                                                 : static_cast<To>(whole);
  } else if constexpr (std::is_floating_point_v<To> && std::is_floating_point_v<From>) {
    return static_cast<To>(rounding == 0   ? ::trunc(from)
                           : rounding == 1 ? ::rint(from)
                           : rounding == 2 ? ::floor(from)
                           : rounding == 3 ? ::ceil(from)
                                           : from);
  } else {
    return static_cast<To>(from);
  }
}
template <class Pair>
Pair pack(float high, float low) {
  return Pair(low, high);
}
// bfind: the position of the highest bit that is not a copy of the sign, or how far it is from the
// highest position; all bits of the result are set if there is no such bit.
template <class T>
unsigned find_bit(T value, bool counts_from_top) {
  constexpr int kBits = 8 * sizeof(T);
  const auto bits = static_cast<unsigned long long>(
      static_cast<std::make_unsigned_t<T>>(value < 0 ? ~value : value));
  if (bits == 0) return 0xffffffffu;
  const int position = 63 - __builtin_clzll(bits);
  return static_cast<unsigned>(counts_from_top ? kBits - 1 - position : position);
}

// vabsdiff4: the absolute differences of the four bytes of a and b, or the sum of these and c.
template <class ByteOfA, class ByteOfB, bool kAdd>
unsigned absolute_differences(unsigned a, unsigned b, unsigned c) {
  unsigned bytes = 0, sum = c;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const int first = static_cast<ByteOfA>(a >> shift), second = static_cast<ByteOfB>(b >> shift);
    const unsigned difference =
        static_cast<unsigned>(first > second ? first - second : second - first);
    sum += difference;
    bytes |= (difference & 0xff) << shift;
  }
  return kAdd ? sum : bytes;
}

inline float tf32(float value) { return tf32_value(value); }

// ---- memory -------------------------------------------------------------------------------------

inline char* address(unsigned long long generic) { return reinterpret_cast<char*>(generic); }
template <class T>
char* address(T* generic) {
  return reinterpret_cast<char*>(const_cast<std::remove_cv_t<T>*>(generic));
}
inline char* shared_address(unsigned long long window) {
  return static_cast<char*>(__cvta_shared_to_generic(window));
}

template <class T, int kCount>
struct Elements {
  T element[kCount];
};
// A type whose objects the compiler loads and stores in a single access, which must be aligned.
template <std::size_t kBytes>
using Single [[gnu::vector_size(kBytes), gnu::may_alias]] = unsigned char;

// Loads all elements of a vector in a single access.
template <class T, int kCount>
auto load(const char* from) {
  using Plain = std::remove_volatile_t<T>;
  Elements<Plain, kCount> loaded;
  if constexpr (std::is_volatile_v<T>) {
    note_spin();
    for (int i = 0; i < kCount; ++i)
      loaded.element[i] = reinterpret_cast<T*>(const_cast<char*>(from))[i];
  } else {
    const auto all = *reinterpret_cast<const Single<sizeof loaded>*>(from);
    std::memcpy(&loaded, &all, sizeof loaded);
  }
  return loaded;
}
template <class T, class... Values>
void store(char* to, Values... values) {
  using Plain = std::remove_volatile_t<T>;
  if constexpr (std::is_volatile_v<T>) {
    int i = 0;
    ((reinterpret_cast<T*>(to)[i++] = values), ...);
  } else {
    const Elements<Plain, sizeof...(values)> elements{{values...}};
    Single<sizeof elements> all;
    std::memcpy(&all, &elements, sizeof all);
    *reinterpret_cast<Single<sizeof elements>*>(to) = all;
  }
}

inline void copy_later(char* to, const char* from, unsigned bytes) {
  async_copies::add(to, from, bytes, bytes);
}
inline void copy_later(char* to, const char* from, unsigned bytes, unsigned from_bytes) {
  async_copies::add(to, from, bytes, from_bytes);
}
inline void commit_copies() { async_copies::commit(); }
inline void wait_for_copies(unsigned groups_left) { async_copies::wait(groups_left); }

// ---- matrices -----------------------------------------------------------------------------------

// A matrix has 8 x 8 elements of 16 bits. Each lane holds two neighbouring elements of each matrix:
// the lanes 4 i to 4 i + 3 hold row i. If kTransposed, these lanes hold column i.
using MatrixRow = Elements<unsigned short, 8>;

// ldmatrix. The lanes 8 k to 8 k + 7 give the addresses of the rows of matrix k; each of these
// lanes loads its row in a single access.
template <int kCount, bool kTransposed>
Elements<unsigned, kCount> load_matrices(const char* address, HOSTCUDA_HERE) {
  MatrixRow row{};
  if (lane() < 8 * kCount) row = load<unsigned short, 8>(address);
  const auto rows = gather(0xffffffffu, row, file, line);
  Elements<unsigned, kCount> loaded{};
  for (int k = 0; k < kCount; ++k)
    for (int i = 0; i < 2; ++i) {
      const int first = lane() / 4, second = lane() % 4 * 2 + i;
      const MatrixRow& of = rows.of_lane[8 * k + (kTransposed ? second : first)];
      loaded.element[k] |= unsigned{of.element[kTransposed ? first : second]} << 16 * i;
    }
  return loaded;
}

// Returns element `column` of row `row` of a matrix. The lanes hold it in their registers k.
template <bool kTransposed, int kCount>
unsigned short element_of_lanes(const Gathered<Registers<kCount>>& lanes, int k, int row,
                                int column) {
  const int first = kTransposed ? column : row, second = kTransposed ? row : column;
  return static_cast<unsigned short>(lanes.of_lane[4 * first + second / 2].element[k] >>
                                     16 * (second % 2));
}

// stmatrix, the inverse of ldmatrix.
template <int kCount, bool kTransposed>
void store_matrices(char* address, const Registers<kCount>& registers, HOSTCUDA_HERE) {
  const auto lanes = gather(0xffffffffu, registers, file, line);
  if (lane() >= 8 * kCount) return;
  unsigned short row[8];
  for (int i = 0; i < 8; ++i)
    row[i] = element_of_lanes<kTransposed>(lanes, lane() / 8, lane() % 8, i);
  store<unsigned short>(address, row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]);
}

// movmatrix
inline unsigned transposed(unsigned pair, HOSTCUDA_HERE) {
  const auto lanes = gather(0xffffffffu, Registers<1>{{pair}}, file, line);
  unsigned result = 0;
  for (int i = 0; i < 2; ++i) {
    const int column = lane() % 4 * 2 + i;
    result |= unsigned{element_of_lanes<true>(lanes, 0, lane() / 4, column)} << 16 * i;
  }
  return result;
}

}  // namespace ptx
}  // namespace hostcuda
