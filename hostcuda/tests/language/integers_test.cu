// Tests the integer intrinsics against plain loops over the lanes of random words.
#include <algorithm>
#include <random>

#include "support.h"

namespace {

// Calls check(a, b) with random words, and with words whose lanes are the limits of their types.
template <class Check>
void for_words(const Check& check) {
  const unsigned limits[] = {0u, 0x80808080u, 0x7f7f7f7fu, 0x80008000u, 0x7fff7fffu, ~0u};
  for (const unsigned a : limits)
    for (const unsigned b : limits) check(a, b);
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    const unsigned a = static_cast<unsigned>(random());
    check(a, i % 3 ? static_cast<unsigned>(random()) : a ^ (i % 2 ? 0xff00u : 0xffu));
  }
}

// Compares an intrinsic with a plain function of long long numbers, lane by lane.
template <class Lane, class Plain>
void expect_lanes(const char* name, unsigned (*intrinsic)(unsigned, unsigned), const Plain& plain) {
  for_words([&](unsigned a, unsigned b) {
    const unsigned got = intrinsic(a, b);
    for (unsigned at = 0; at < 32; at += 8 * sizeof(Lane)) {
      const long long x = static_cast<Lane>(a >> at), y = static_cast<Lane>(b >> at);
      ASSERT_EQ(static_cast<Lane>(plain(x, y)), static_cast<Lane>(got >> at))
          << name << std::hex << " of " << a << " and " << b << ", bit " << std::dec << at;
    }
  });
}

template <class Lane>
long long in_range(long long value) {
  return std::clamp<long long>(value, std::numeric_limits<Lane>::min(),
                               std::numeric_limits<Lane>::max());
}

#define EXPECT_LANES_OF(intrinsic, Type, plain)                           \
  expect_lanes<Type>(                                                     \
      #intrinsic, [](unsigned a, unsigned b) { return intrinsic(a, b); }, \
      [](long long x, long long y) -> long long {                         \
        using Lane [[maybe_unused]] = Type;                               \
        return plain;                                                     \
      })
#define EXPECT_LANES(name, halfword, byte, plain) \
  EXPECT_LANES_OF(name##2, halfword, plain);      \
  EXPECT_LANES_OF(name##4, byte, plain)
#define EXPECT_SIGNED(name, plain) EXPECT_LANES(name, short, signed char, plain)
#define EXPECT_UNSIGNED(name, plain) EXPECT_LANES(name, unsigned short, unsigned char, plain)

TEST(Simd, SumsAndDifferences) {
  EXPECT_UNSIGNED(__vadd, x + y);
  EXPECT_UNSIGNED(__vsub, x - y);
  EXPECT_SIGNED(__vaddss, in_range<Lane>(x + y));
  EXPECT_SIGNED(__vsubss, in_range<Lane>(x - y));
  EXPECT_UNSIGNED(__vaddus, in_range<Lane>(x + y));
  EXPECT_UNSIGNED(__vsubus, in_range<Lane>(x - y));
  EXPECT_SIGNED(__vabsdiffs, std::abs(x - y));
  EXPECT_UNSIGNED(__vabsdiffu, std::abs(x - y));
}

TEST(Simd, Averages) {
  EXPECT_SIGNED(__vavgs, std::llround(static_cast<double>(x + y) / 2));
  EXPECT_UNSIGNED(__vavgu, std::llround(static_cast<double>(x + y) / 2));
  EXPECT_UNSIGNED(__vhaddu, (x + y) / 2);
}

TEST(Simd, MinimaAndMaxima) {
  EXPECT_SIGNED(__vmaxs, std::max(x, y));
  EXPECT_UNSIGNED(__vmaxu, std::max(x, y));
  EXPECT_SIGNED(__vmins, std::min(x, y));
  EXPECT_UNSIGNED(__vminu, std::min(x, y));
}

#define EXPECT_COMPARISON(suffix, expect, comparison) \
  expect(__vcmp##suffix, comparison ? -1 : 0);        \
  expect(__vset##suffix, comparison)

TEST(Simd, Comparisons) {
  EXPECT_COMPARISON(eq, EXPECT_UNSIGNED, x == y);
  EXPECT_COMPARISON(ne, EXPECT_UNSIGNED, x != y);
  EXPECT_COMPARISON(gts, EXPECT_SIGNED, x > y);
  EXPECT_COMPARISON(gtu, EXPECT_UNSIGNED, x > y);
  EXPECT_COMPARISON(ges, EXPECT_SIGNED, x >= y);
  EXPECT_COMPARISON(geu, EXPECT_UNSIGNED, x >= y);
  EXPECT_COMPARISON(lts, EXPECT_SIGNED, x < y);
  EXPECT_COMPARISON(ltu, EXPECT_UNSIGNED, x < y);
  EXPECT_COMPARISON(les, EXPECT_SIGNED, x <= y);
  EXPECT_COMPARISON(leu, EXPECT_UNSIGNED, x <= y);
}

#define EXPECT_OF_ONE(intrinsic, Type, plain)                        \
  expect_lanes<Type>(                                                \
      #intrinsic, [](unsigned a, unsigned) { return intrinsic(a); }, \
      [](long long x, long long) -> long long { return plain; })

TEST(Simd, FunctionsOfOneWord) {
  EXPECT_OF_ONE(__vabs2, short, std::abs(x));
  EXPECT_OF_ONE(__vabs4, signed char, std::abs(x));
  EXPECT_OF_ONE(__vneg2, short, -x);
  EXPECT_OF_ONE(__vneg4, signed char, -x);
  EXPECT_OF_ONE(__vabsss2, short, in_range<short>(std::abs(x)));
  EXPECT_OF_ONE(__vabsss4, signed char, in_range<signed char>(std::abs(x)));
  EXPECT_OF_ONE(__vnegss2, short, in_range<short>(-x));
  EXPECT_OF_ONE(__vnegss4, signed char, in_range<signed char>(-x));
}

template <class Lane>
unsigned plain_sad(unsigned a, unsigned b) {
  long long sum = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Lane))
    sum += std::abs(0ll + static_cast<Lane>(a >> at) - static_cast<Lane>(b >> at));
  return static_cast<unsigned>(sum);
}

TEST(Simd, SumsOfAbsoluteDifferences) {
  for_words([](unsigned a, unsigned b) {
    EXPECT_EQ(plain_sad<short>(a, b), __vsads2(a, b));
    EXPECT_EQ(plain_sad<signed char>(a, b), __vsads4(a, b));
    EXPECT_EQ(plain_sad<unsigned short>(a, b), __vsadu2(a, b));
    EXPECT_EQ(plain_sad<unsigned char>(a, b), __vsadu4(a, b));
  });
}

TEST(Dpx, HalfwordsFollowTheSimdIntrinsics) {
  EXPECT_LANES_OF([](unsigned a, unsigned b) { return __viaddmax_s16x2(a, b, 0x00050005u); }, short,
                  std::max<long long>(static_cast<Lane>(x + y), 5));
  EXPECT_LANES_OF([](unsigned a, unsigned b) { return __vimin3_s16x2_relu(a, b, 0x70007000u); },
                  short, std::clamp<long long>(std::min(x, y), 0, 0x7000));
  EXPECT_LANES_OF(__vimax_s16x2_relu, short, std::max({x, y, 0ll}));
  EXPECT_LANES_OF([](unsigned a, unsigned b) { return __vimax3_u16x2(a, b, 9u << 16 | 9); },
                  unsigned short, std::max({x, y, 9ll}));
}

TEST(Dpx, Words) {
  EXPECT_EQ(7, __vimax3_s32(-5, 7, 3));
  EXPECT_EQ(0, __vimin3_s32_relu(-5, 7, 3));
  EXPECT_EQ(0x80000000u, __viaddmax_u32(0x7fffffffu, 1, 5));
  EXPECT_EQ(5, __viaddmax_s32(0x7fffffff, 1, 5));  // the sum wraps around
  EXPECT_EQ(0, __viaddmin_s32_relu(1, 2, -5));
  bool high = false, low = false;
  EXPECT_EQ(4, __vibmax_s32(4, 4, &low));
  EXPECT_TRUE(low);
  EXPECT_EQ(0x00020001u, __vibmin_s16x2(0x00020003u, 0x00040001u, &high, &low));
  EXPECT_TRUE(high);
  EXPECT_FALSE(low);
}

TEST(Integers, AveragesDoNotOverflow) {
  for_words([](unsigned a, unsigned b) {
    const int x = static_cast<int>(a), y = static_cast<int>(b);
    EXPECT_EQ(static_cast<int>(std::floor((1.0 * x + y) / 2)), __hadd(x, y));
    EXPECT_EQ(static_cast<int>(std::ceil((1.0 * x + y) / 2)), __rhadd(x, y));
    EXPECT_EQ(static_cast<unsigned>(std::floor((1.0 * a + b) / 2)), __uhadd(a, b));
    EXPECT_EQ(static_cast<unsigned>(std::ceil((1.0 * a + b) / 2)), __urhadd(a, b));
  });
}

TEST(Integers, NthSetBit) {
  constexpr unsigned kMask = 0b10110100u;
  EXPECT_EQ(2u, __fns(kMask, 0, 1));
  EXPECT_EQ(5u, __fns(kMask, 4, 2));
  EXPECT_EQ(4u, __fns(kMask, 5, -2));
  EXPECT_EQ(4u, __fns(kMask, 4, 0));
  EXPECT_EQ(~0u, __fns(kMask, 3, 0));
  EXPECT_EQ(~0u, __fns(kMask, 0, 5));
  EXPECT_EQ(~0u, __fns(kMask, 3, -2));
}

TEST(Integers, FunnelShiftsAndDotProducts) {
  EXPECT_EQ(0x00000001u, __funnelshift_lc(1, 2, 40));
  EXPECT_EQ(0x00000002u, __funnelshift_rc(1, 2, 32));
  EXPECT_EQ(0x00000003u, __funnelshift_lc(1u << 31, 1, 1));
  EXPECT_EQ(2 * 3 - 4 * 5 + 1, __dp2a_lo(make_short2(2, -4), make_char4(3, 5, 7, 9), 1));
  EXPECT_EQ(2u * 200 + 60000u * 9, __dp2a_hi(make_ushort2(2, 60000), make_uchar4(3, 5, 200, 9), 0));
}

TEST(Rounding, FusedProductsAndLongIntegers) {
  EXPECT_LT(__fma_rd(0.1, 0.1, 0.1), __fma_ru(0.1, 0.1, 0.1));
  EXPECT_LT(__fmaf_rz(0.1f, 0.1f, 0.1f), __fmaf_ru(0.1f, 0.1f, 0.1f));
  EXPECT_EQ(9223372036854774784.0, __ll2double_rd(0x7fffffffffffffffll));
  EXPECT_EQ(9223372036854775808.0, __ll2double_ru(0x7fffffffffffffffll));
  EXPECT_EQ(18446742974197923840.0f, __ull2float_rz(~0ull));
  EXPECT_EQ(-16777216.0f, __ll2float_ru(-16777217));
}

}  // namespace
