// Tests the inline PTX that courses show, including products of matrices.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "support.h"

namespace {

__device__ std::uint32_t shared_address(const void* pointer) {
  std::uint32_t address;
  asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }\n"
      : "=r"(address)
      : "l"(pointer));
  return address;
}

__global__ void registers(unsigned* out) {
  unsigned lane, id;
  unsigned long long time;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  asm("mov.u32 %0, %%tid.x;" : "=r"(id));
  out[threadIdx.x] = lane + 100 * id + 10000 * (time > 0);
}

TEST(Ptx, SpecialRegisters) {
  DeviceArray<unsigned> out(40);
  registers<<<1, 40>>>(out);
  const std::vector<unsigned> got = out.get();
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(i % 32 + 100 * i + 10000, got[i]);
}

__global__ void arithmetic(int* out, int x) {
  int sum, high;
  unsigned ones, chosen = 0;
  float root, fused;
  long long wide;
  asm("add.s32 %0, %1, %2;" : "=r"(sum) : "r"(x), "r"(5));
  asm("mul.hi.s32 %0, %1, %2;" : "=r"(high) : "r"(-0x40000000), "r"(8));
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(wide) : "r"(1 << 20), "r"(1 << 20), "l"(1ll));
  asm("popc.b32 %0, %1;" : "=r"(ones) : "r"(255));
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(4.0f));
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(fused) : "f"(2.0f), "f"(3.0f), "f"(0.5f));
  asm("{\n"
      " .reg .pred p;  // true for small numbers\n"
      " setp.lt.s32 p, %1, 10;\n"
      " @p add.u32 %0, %0, 1;\n"
      " @!p add.u32 %0, %0, 2;\n"
      "}"
      : "+r"(chosen)
      : "r"(x));
  int rounds = 0;
  asm("{\n .reg .pred p;\n"
      "again:\n add.s32 %0, %0, 1;\n setp.lt.s32 p, %0, %1;\n @p bra again;\n}"
      : "+r"(rounds)
      : "r"(x));
  const int results[] = {sum,
                         high,
                         static_cast<int>(wide >> 20),
                         int(ones),
                         int(chosen),
                         static_cast<int>(8 * root),
                         int(2 * fused),
                         rounds};
  for (int i = 0; i < 8; ++i) out[i] = results[i];
}

TEST(Ptx, ArithmeticPredicatesAndBranches) {
  DeviceArray<int> out(8);
  arithmetic<<<1, 1>>>(out, 7);
  EXPECT_EQ((std::vector<int>{12, -2, 1 << 20, 8, 1, 4, 13, 7}), out.get());
  arithmetic<<<1, 1>>>(out, 20);
  EXPECT_EQ((std::vector<int>{25, -2, 1 << 20, 8, 2, 4, 13, 20}), out.get());
}

__global__ void memory(const float4* in, float* out, unsigned* counter) {
  __shared__ alignas(128) float4 tile[32];
  const int t = threadIdx.x;
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(&tile[t]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\n" ::"r"(to), "l"(in + t), "n"(16));
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
  asm volatile("bar.sync 0;");
  float x, y, z, w, first;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "r"(shared_address(&tile[31 - t])));
  asm volatile("ld.global.nc.f32 %0, [%1+4];" : "=f"(first) : "l"(in + t));
  asm volatile("st.global.f32 [%0], %1;" ::"l"(out + t), "f"(x + y + z + w + first) : "memory");
  unsigned before;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(2));
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(counter), "r"(before - before));
  int down;
  asm volatile("shfl.sync.down.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(down) : "r"(t));
  if (t == 3) out[t] += down;
}

TEST(Ptx, LoadsStoresAtomicsAndAsynchronousCopies) {
  DeviceArray<float4> in(32);
  std::vector<float4> values(32);
  for (int i = 0; i < 32; ++i) values[i] = make_float4(i, 10 * i, 0, 1);
  in.set(values);
  DeviceArray<float> out(32);
  DeviceArray<unsigned> counter(1, 0);
  memory<<<1, 32>>>(in, out, counter);
  const std::vector<float> got = out.get();
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(11.0f * (31 - i) + 1 + 10 * i + (i == 3 ? 4 : 0), got[i]) << i;
  EXPECT_EQ(std::vector<unsigned>{64}, counter.get());
}

__global__ void products(const half* a, const half* b, float* c) {
  __shared__ alignas(128) half rows_of_a[16 * 16];
  __shared__ alignas(128) half rows_of_b[16 * 8];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) rows_of_a[i] = a[i];
  for (int i = t; i < 128; i += 32) rows_of_b[i] = b[i];
  __syncthreads();
  unsigned x[4], y[2];
  float d[4] = {1, 1, 1, 1};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(shared_address(&rows_of_a[t % 16 * 16 + t / 16 * 8])));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(y[0]), "=r"(y[1])
               : "r"(shared_address(&rows_of_b[t % 16 * 8])));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) c[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
}

TEST(Ptx, ProductsOfMatrices) {
  DeviceArray<half> a(256), b(128);
  std::vector<half> of_a, of_b;
  for (int i = 0; i < 256; ++i) of_a.push_back(i % 7);
  for (int i = 0; i < 128; ++i) of_b.push_back(i % 5);
  a.set(of_a);
  b.set(of_b);
  DeviceArray<float> c(128);
  products<<<1, 32>>>(a, b, c);
  const std::vector<float> got = c.get();
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      int sum = 1;
      for (int k = 0; k < 16; ++k) sum += (i * 16 + k) % 7 * ((k * 8 + j) % 5);
      EXPECT_EQ(sum, got[i * 8 + j]) << i << " " << j;
    }
}

// Row r of matrix k begins with element 64 k + 8 r.
__global__ void fragments(unsigned* out) {
  __shared__ alignas(16) std::uint16_t in[256], stored[256];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) in[i] = i, stored[i] = 0xffff;
  __syncthreads();
  unsigned x[4], y[2], z, w;
  asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(shared_address(in + 8 * t)));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.trans.b16 {%0, %1}, [%2 + 16];"
               : "=r"(y[0]), "=r"(y[1])
               : "r"(shared_address(in + 8 * (t % 16))));
  asm volatile("ldmatrix.b16.x1.m8n8.aligned.sync {%0}, [%1];" : "=r"(z) : "l"(in + 8 * (t % 8)));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(w) : "r"(z));
  asm volatile("stmatrix.sync.aligned.x4.m8n8.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(stored + 8 * (31 - t))),
               "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
               : "memory");
  __syncthreads();
  for (int i = 0; i < 8; ++i) out[t * 16 + i] = stored[8 * t + i];
  __syncthreads();
  asm volatile("stmatrix.sync.aligned.m8n8.trans.x1.shared::cta.b16 [%0], {%1};" ::"r"(
                   shared_address(stored + 8 * (t % 8))),
               "r"(x[1])
               : "memory");
  __syncthreads();
  const unsigned results[] = {x[0], x[3], y[0], y[1], z, w, stored[2 * t], stored[2 * t + 1]};
  for (int i = 0; i < 8; ++i) out[t * 16 + 8 + i] = results[i];
}

TEST(Ptx, MatricesAreLoadedAndStored) {
  DeviceArray<unsigned> out(512);
  fragments<<<1, 32>>>(out);
  const std::vector<unsigned> got = out.get();
  const auto pair = [](int first, int second) { return unsigned(first | second << 16); };
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 8; ++i) EXPECT_EQ(8 * (31 - t) + i, got[t * 16 + i]) << t;
    const int row = 2 * t, down = t % 4 * 16 + t / 4, at = 2 * t;
    const unsigned expected[] = {pair(row, row + 1),
                                 pair(192 + row, 193 + row),
                                 pair(8 + down, 16 + down),
                                 pair(72 + down, 80 + down),
                                 pair(row, row + 1),
                                 pair(down, down + 8),
                                 unsigned(64 + at % 8 * 8 + at / 8),
                                 unsigned(64 + (at + 1) % 8 * 8 + at / 8)};
    for (int i = 0; i < 8; ++i) EXPECT_EQ(expected[i], got[t * 16 + 8 + i]) << t << " " << i;
  }
}

__global__ void find_and_compare(unsigned* out) {
  unsigned found[4], sum, bytes;
  asm("bfind.u32 %0, %1;" : "=r"(found[0]) : "r"(0x10u));
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(found[1]) : "r"(0x10u));
  asm("bfind.s32 %0, %1;" : "=r"(found[2]) : "r"(-3));
  asm("bfind.u32 %0, %1;" : "=r"(found[3]) : "r"(0u));
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;"
      : "=r"(sum)
      : "r"(0x01f00304u), "r"(0x04100103u), "r"(1000u));
  asm("vabsdiff4.u32.s32.s32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(0x7f01u), "r"(0x8002u), "r"(0u));
  for (int i = 0; i < 4; ++i) out[i] = found[i];
  out[4] = sum;
  out[5] = bytes;
}

TEST(Ptx, HighestBitAndDifferencesOfBytes) {
  DeviceArray<unsigned> out(6);
  find_and_compare<<<1, 1>>>(out);
  EXPECT_EQ((std::vector<unsigned>{4, 27, 1, 0xffffffffu, 1000 + 3 + 224 + 2 + 1, 0xff01u}),
            out.get());
}

__global__ void rounded(float* out, float nan, int* whole) {
  asm("add.rp.f32 %0, %1, %2;" : "=f"(out[0]) : "f"(1.f), "f"(1e-10f));
  asm("fma.rz.f32 %0, %1, %2, %3;" : "=f"(out[1]) : "f"(1.f), "f"(1.f), "f"(-1e-10f));
  asm("mul.rm.f32 %0, %1, %2;" : "=f"(out[2]) : "f"(1.1f), "f"(1.1f));
  asm("mul.rp.f32 %0, %1, %2;" : "=f"(out[10]) : "f"(1.1f), "f"(1.1f));
  asm("sqrt.rp.f32 %0, %1;" : "=f"(out[3]) : "f"(2.f));
  asm("add.sat.f32 %0, %1, %2;" : "=f"(out[4]) : "f"(1.f), "f"(1.f));
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(out[5]) : "f"(nan), "f"(1.f), "f"(1.f));
  asm("min.f32 %0, %1, %2;" : "=f"(out[6]) : "f"(nan), "f"(2.f));
  asm("max.f32 %0, %1, %2;" : "=f"(out[7]) : "f"(-0.f), "f"(0.f));
  asm("cvt.rni.f32.f32 %0, %1;" : "=f"(out[8]) : "f"(2.5f));
  asm("cvt.rpi.f32.f32 %0, %1;" : "=f"(out[9]) : "f"(2.2f));
  asm("{ .reg .pred p; setp.ne.f32 p, %1, %1; selp.s32 %0, 1, 0, p; }" : "=r"(whole[0]) : "f"(nan));
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole[1]) : "f"(nan));
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole[2]) : "f"(1e20f));
  asm("add.s32 %0, %1, %2;" : "=r"(whole[3]) : "r"(0x7fffffff), "r"(1));
}

TEST(Ptx, RoundsAndLimitsAsTheInstructionSays) {
  DeviceArray<float> out(11);
  DeviceArray<int> whole(4);
  rounded<<<1, 1>>>(out, NAN, whole);
  const std::vector<float> got = out.get();
  EXPECT_LT(1.f, got[0]);
  EXPECT_GT(1.f, got[1]);
  EXPECT_GE(double{1.1f} * 1.1f, double{got[2]});
  EXPECT_LE(2.0, double{got[3]} * got[3]);
  EXPECT_EQ((std::vector<float>{1, 0, 2, 0, 2, 3}),
            std::vector<float>(got.begin() + 4, got.begin() + 10));
  EXPECT_EQ(std::nextafter(got[2], 2.f), got[10]);
  EXPECT_FALSE(std::signbit(got[7]));
  EXPECT_EQ((std::vector<int>{0, 0, 0x7fffffff, -0x7fffffff - 1}), whole.get());
}

__global__ void halves_of(unsigned long long* out, unsigned* parts) {
  asm("mov.b64 %0, {%1, %2};" : "=l"(*out) : "r"(1), "r"(2));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(parts[0]), "=r"(parts[1]) : "l"(0x300000004ull));
}

TEST(Ptx, JoinsAndSplitsRegisters) {
  DeviceArray<unsigned long long> out(1);
  DeviceArray<unsigned> parts(2);
  halves_of<<<1, 1>>>(out, parts);
  EXPECT_EQ(0x200000001ull, out.get()[0]);
  EXPECT_EQ((std::vector<unsigned>{4, 3}), parts.get());
}

__global__ void fields(unsigned* out) {
  const unsigned to = 0x12345678;
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(out[0]) : "r"(0xffu), "r"(to));
  asm("bfi.b32 %0, %1, %2, 40, 4;" : "=r"(out[1]) : "r"(0xffu), "r"(to));
  asm("bfi.b32 %0, %1, %2, 28, 32;" : "=r"(out[2]) : "r"(0xffu), "r"(to));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(out[3]) : "r"(0x80000001u), "r"(to), "r"(36));
  asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(out[4]) : "r"(0x80000001u), "r"(to), "r"(36));
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(out[5]) : "r"(0x01020304u), "r"(0x01010101u), "r"(5u));
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(out[6]) : "r"(3u), "r"(10u), "r"(100u));
}

TEST(Ptx, FieldsOfBits) {
  DeviceArray<unsigned> out(7);
  fields<<<1, 1>>>(out);
  EXPECT_EQ(
      (std::vector<unsigned>{0x12345f78, 0x12345678, 0xf2345678, 0x23456788, 0x12345678, 15, 107}),
      out.get());
}

// The products use only the lowest 24 bits; the expected values follow from PTX's definition.
__global__ void products_of_24_bits(unsigned* out, int minus_three, unsigned large) {
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(out[0]) : "r"(minus_three), "r"(0x7f000005));
  asm("mul24.lo.u32 %0, %1, %2;" : "=r"(out[1]) : "r"(large), "r"(3u));
  asm("mul24.hi.u32 %0, %1, %1;" : "=r"(out[2]) : "r"(large));
  asm("mul24.hi.s32 %0, %1, %2;" : "=r"(out[3]) : "r"(minus_three), "r"(1));
  asm("mad24.lo.s32 %0, %1, %1, %2;" : "=r"(out[4]) : "r"(minus_three), "r"(-10));
  asm("mad24.hi.u32 %0, %1, %1, %2;" : "=r"(out[5]) : "r"(large), "r"(1u));
}

TEST(Ptx, MultipliesNumbersOf24Bits) {
  DeviceArray<unsigned> out(6);
  products_of_24_bits<<<1, 1>>>(out, -3, 0x12ffffffu);
  EXPECT_EQ((std::vector<unsigned>{~0u - 14, 0x02fffffd, 0xfffffe00, ~0u, ~0u, 0xfffffe01}),
            out.get());
}

__global__ void select_by_sign(float* out, int minus_one, float zero, float tiny) {
  asm("slct.f32.s32 %0, %1, %2, %3;" : "=f"(out[0]) : "f"(1.0f), "f"(2.0f), "r"(minus_one));
  asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(out[1]) : "f"(1.0f), "f"(2.0f), "f"(-zero));
  asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(out[2]) : "f"(1.0f), "f"(2.0f), "f"(zero / zero));
  asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(out[3]) : "f"(1.0f), "f"(2.0f), "f"(-tiny));
  asm("slct.ftz.f32.f32 %0, %1, %2, %3;" : "=f"(out[4]) : "f"(tiny), "f"(2.0f), "f"(-tiny));
  long long chosen = 0;
  asm("slct.b64.s32 %0, %1, %2, 0;" : "=l"(chosen) : "l"(1ll << 40), "l"(5ll));
  out[5] = static_cast<float>(chosen >> 40);
}

TEST(Ptx, SelectsByTheSign) {
  const float tiny = std::numeric_limits<float>::min() / 2;
  DeviceArray<float> out(6);
  select_by_sign<<<1, 1>>>(out, -1, 0, tiny);
  EXPECT_EQ((std::vector<float>{2, 1, 2, 2, tiny, 1}), out.get());
}

// The carry lasts from one asm statement to the next, even if other threads run in between.
__global__ void carries(unsigned* out, unsigned long long* wide) {
  const unsigned long long low = 0 - static_cast<unsigned long long>(threadIdx.x);
  unsigned long long* const sum = wide + 2 * threadIdx.x;
  asm volatile("add.cc.u64 %0, %1, %2;" : "=l"(sum[0]) : "l"(low), "l"(1ull));
  __syncthreads();
  asm volatile("addc.u64 %0, %1, %2;" : "=l"(sum[1]) : "l"(5ull), "l"(6ull));
  asm("sub.cc.u32 %0, %2, 1;\n subc.u32 %1, 7, 0;" : "=r"(out[0]), "=r"(out[1]) : "r"(0u));
  asm("mad.lo.cc.u32 %0, %2, %2, %2;\n madc.hi.u32 %1, %2, %2, 0;"
      : "=r"(out[2]), "=r"(out[3])
      : "r"(~0u));
}

TEST(Ptx, CarriesFromOneWordToTheNext) {
  DeviceArray<unsigned> out(4);
  DeviceArray<unsigned long long> wide(6);
  carries<<<1, 3>>>(out, wide);
  EXPECT_EQ((std::vector<unsigned>{~0u, 6, 0, ~0u}), out.get());
  EXPECT_EQ((std::vector<unsigned long long>{1, 11, 0, 12, ~0ull, 11}), wide.get());
}

__global__ void flush(float* out, float tiny) {
  asm("mul.f32 %0, %1, %2;" : "=f"(out[0]) : "f"(tiny), "f"(0.5f));
  asm("mul.ftz.f32 %0, %1, %2;" : "=f"(out[1]) : "f"(-tiny), "f"(0.5f));
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(out[2]) : "f"(tiny / 2), "f"(tiny));
  asm("fma.rz.ftz.f32 %0, %1, %2, %3;" : "=f"(out[3]) : "f"(tiny), "f"(0.5f), "f"(0.0f));
  asm("{ .reg .pred p; setp.gt.ftz.f32 p, %1, 0f00000000; selp.f32 %0, 1.0, 2.0, p; }"
      : "=f"(out[4])
      : "f"(tiny / 2));
}

__global__ void negate_pair(unsigned* out, unsigned pair) {
  asm("neg.f16x2 %0, %1;" : "=r"(out[0]) : "r"(pair));
}

TEST(Ptx, PairsOfHalvesNeedNoOtherSuffix) {
  DeviceArray<unsigned> out(1);
  negate_pair<<<1, 1>>>(out, 0xbc003c00);
  EXPECT_EQ(0x3c00bc00u, out.get()[0]);
}

__global__ void permute(unsigned* out, unsigned low, unsigned high) {
  asm("prmt.b32 %0, %1, %2, 0x7012;" : "=r"(out[0]) : "r"(low), "r"(high));
  asm("prmt.b32 %0, %1, %2, 0xf81a;" : "=r"(out[1]) : "r"(low), "r"(high));
}

TEST(Ptx, PermutesBytesAndReplicatesSigns) {
  DeviceArray<unsigned> out(2);
  permute<<<1, 1>>>(out, 0x44bb2211, 0x88776655);
  EXPECT_EQ((std::vector<unsigned>{0x881122bb, 0xff0022ff}), out.get());
}

TEST(Ptx, FlushesSmallNumbersToZero) {
  const float tiny = std::numeric_limits<float>::min();
  DeviceArray<float> out(5);
  flush<<<1, 1>>>(out, tiny);
  EXPECT_EQ((std::vector<float>{tiny / 2, 0, tiny, 0, 2}), out.get());
  EXPECT_TRUE(std::signbit(out.get()[1]));
}

}  // namespace
