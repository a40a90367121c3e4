// The pass over the bodies of a call, which examines them and converts them to the kernels' layout.
#include <algorithm>
#include <cmath>
#include <limits>

#include "library/cuda/prepare.h"

namespace nbody::library {
namespace {

constexpr int kBlockSize = 256;
constexpr int kAtOnce = 4;         // loads of bodies that do not wait for each other's stores
constexpr int kMostBlocks = 1024;  // limit per pass; the last block adds up all findings

// The reciprocal of a unit, as two powers of two: in float32, the whole might be too large.
template <class Real>
struct Factor {
  Real first, second;
  explicit Factor(double unit)
      : first(static_cast<Real>(std::ldexp(1.0, -(std::ilogb(unit) / 2)))),
        second(static_cast<Real>(1 / unit / std::ldexp(1.0, -(std::ilogb(unit) / 2)))) {}
};

// The work of the kernel. If a pointer is null, the kernel leaves out the part that uses it.
template <class To, class From>
struct Pass {
  Pointers<From> from;
  const From* centre;
  Division division;
  Factor<From> length, mass, speed;
  const int* before;  // number of bodies with mass before each body; null: the order stays
  Four<To>*positions, *velocities;
  int* order;
  float* tile_masses;
  Examination::Report report;
};

template <class Real>
struct Body {
  Real x[3], v[3], mass;
};

template <class To, class From>
__device__ Body<From> load(const Pass<To, From>& pass, std::size_t i) {
  const Pointers<From>& from = pass.from;
  Body<From> body{};
  for (int k = 0; k < 3; ++k) body.x[k] = from.positions[3 * i + k];
  if (from.velocities != nullptr)
    for (int k = 0; k < 3; ++k) body.v[k] = from.velocities[3 * i + k];
  if (from.masses != nullptr) body.mass = from.masses[i];
  return body;
}

// ---- examining ----------------------------------------------------------------------------------

__device__ int first_of(int a, int b) { return a == 0 || (b != 0 && b < a) ? b : a; }

// What a thread has found, in the type of the values, because float32 is faster.
template <class Real>
struct Findings {
  Real length = 0, mass = 0, speed = 0;
  int massive = 0, one_mass_tiles = 0, wrong = 0;
};

struct Merge {
  template <class Real>
  __device__ Findings<Real> operator()(const Findings<Real>& a, const Findings<Real>& b) const {
    return {fmax(a.length, b.length),
            fmax(a.mass, b.mass),
            fmax(a.speed, b.speed),
            a.massive + b.massive,
            a.one_mass_tiles + b.one_mass_tiles,
            first_of(a.wrong, b.wrong)};
  }
};

template <class Real>
constexpr Real kLimit = static_cast<Real>(std::min(kLargest,
                                                   double{std::numeric_limits<Real>::max()}));

template <class Real>
__device__ void examine(const Body<Real>& body, const Real* centre, Findings<Real>& found) {
  const auto within = [](Real value) { return fabs(value) <= kLimit<Real>; };
  for (int k = 0; k < 3; ++k) {
    if (!within(body.x[k])) found.wrong = first_of(found.wrong, NBODY_BAD_POSITION);
    if (!within(body.v[k])) found.wrong = first_of(found.wrong, NBODY_BAD_VELOCITY);
    const Real x = body.x[k];
    found.length = fmax(found.length, fabs(centre != nullptr ? x - centre[k] : x));
    found.speed = fmax(found.speed, fabs(body.v[k]));
  }
  if (!within(body.mass) || body.mass < 0) found.wrong = first_of(found.wrong, NBODY_BAD_MASS);
  found.massive += body.mass > 0;
  found.mass = fmax(found.mass, body.mass);
}

// Tests on the device whether unit_of(largest) is `unit`.
__device__ bool is_unit_of(double largest, double unit) {
  return unit == (largest > 0 ? ldexp(1.0, ilogb(largest) + 1) : 1.0);
}
__device__ bool fits(const Facts& facts, double softening, const Plan& plan) {
  return facts.wrong == 0 && facts.massive == plan.massive &&
         (facts.one_mass_tiles > 0) == plan.has_one_mass_tiles &&
         is_unit_of(fmax(facts.length, softening), plan.length) &&
         is_unit_of(facts.mass, plan.mass) && is_unit_of(facts.speed, plan.speed);
}

// Adds up what the threads of a block have found. The last block to arrive adds up the findings of
// all blocks.
template <class Real>
__device__ void report(const Findings<Real>& mine, const Examination::Report& report) {
  using Reduce = cub::BlockReduce<Findings<Real>, kBlockSize>;
  __shared__ typename Reduce::TempStorage memory;
  __shared__ bool is_last;
  const auto facts_of = [](const Findings<Real>& found) {
    return Facts{found.length, found.mass, found.speed, found.massive, found.one_mass_tiles,
                 found.wrong,  0};
  };
  const Findings<Real> of_block = Reduce(memory).Reduce(mine, Merge());
  if (threadIdx.x == 0) {
    report.partials[report.first + blockIdx.x] = facts_of(of_block);
    __threadfence();  // a block that sees the count also sees the findings
    const unsigned last = static_cast<unsigned>(report.blocks) - 1;
    is_last = atomicInc(report.arrived, last) == last;  // then the count is 0 again
  }
  __syncthreads();  // all threads see is_last, and no longer use `memory`
  if (!is_last) return;
  __threadfence();
  Findings<Real> some;
  for (int k = threadIdx.x; k < report.blocks; k += kBlockSize) {
    const Facts& facts = report.partials[k];
    some =
        Merge()(some, Findings<Real>{static_cast<Real>(facts.length), static_cast<Real>(facts.mass),
                                     static_cast<Real>(facts.speed), facts.massive,
                                     facts.one_mass_tiles, facts.wrong});
  }
  Facts all = facts_of(Reduce(memory).Reduce(some, Merge()));
  if (threadIdx.x > 0) return;
  all.as_expected = report.is_expected && fits(all, report.softening, report.expected);
  report.partials[report.blocks] = all;
  post(all, report.facts);
}

// ---- laying out ---------------------------------------------------------------------------------

// If `is_expected` is true, the units are those of an earlier call and may not suit a value. Such a
// value becomes zero, so that later kernels terminate. Their results are then not stored.
template <class To, class From>
__device__ To scaled(From value, const Factor<From>& factor, bool is_expected) {
  const From result = value * factor.first * factor.second;
  return static_cast<To>(is_expected && !(fabs(result) <= 2) ? 0 : result);
}

template <class To, class From>
__device__ void store(const Pass<To, From>& pass, std::size_t i, const Body<From>& body) {
  const bool expected = pass.report.is_expected;
  std::size_t place = i;
  if (pass.before != nullptr) {
    const std::size_t last = pass.from.count - 1, before = static_cast<std::size_t>(pass.before[i]);
    const std::size_t massive =
        static_cast<std::size_t>(pass.before[last]) + (pass.from.masses[last] > 0);
    place = body.mass > 0 ? before : massive + i - before;
  }
  To x[3], v[3];
  for (int k = 0; k < 3; ++k) {
    const From at = pass.centre != nullptr ? body.x[k] - pass.centre[k] : body.x[k];
    x[k] = scaled<To>(at, pass.length, expected);
    v[k] = scaled<To>(body.v[k], pass.speed, expected);
  }
  pass.positions[place] = {x[0], x[1], x[2], scaled<To>(body.mass, pass.mass, expected)};
  if (pass.velocities != nullptr) pass.velocities[place] = {v[0], v[1], v[2], 0};
  if (pass.order != nullptr) pass.order[place] = static_cast<int>(i);
}

template <class To, class From>
__global__ void __launch_bounds__(kBlockSize) prepare(const Pass<To, From> pass) {
  const std::size_t tile = pass.division.tile, count = pass.from.count;
  Findings<From> found;
  for (std::size_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
    const std::size_t end = first + tile < count ? first + tile : count;
    const From mass = pass.from.masses != nullptr ? pass.from.masses[first] : From(0);
    bool same = end - first == tile;  // massless bodies fill up the last tile
    for (std::size_t begin = first + threadIdx.x; begin < end; begin += kAtOnce * kBlockSize) {
      Body<From> body[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (begin + k * kBlockSize < end) body[k] = load(pass, begin + k * kBlockSize);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const std::size_t i = begin + k * kBlockSize;
        if (i >= end) break;
        same &= body[k].mass == mass;
        if (pass.report.facts != nullptr) examine(body[k], pass.centre, found);
        if (pass.positions != nullptr) store(pass, i, body[k]);
      }
    }
    if (!pass.division.notes_masses) continue;
    same = __syncthreads_and(same);
    if (threadIdx.x > 0) continue;
    found.one_mass_tiles += same;
    if (pass.tile_masses != nullptr)
      pass.tile_masses[first / tile] =
          same ? scaled<float>(mass, pass.mass, pass.report.is_expected) : -1.0f;
  }
  if (pass.report.facts != nullptr) report(found, pass.report);
}

template <class To, class From>
void launch(const Pass<To, From>& pass, cudaStream_t stream) {
  if (pass.from.count == 0) return;
  prepare<<<pass.division.blocks(pass.from.count), kBlockSize, 0, stream>>>(pass);
  CUDA_CHECK(cudaGetLastError());
}

template <class Real>
__global__ void find_massive(const Real* __restrict__ masses, int n, int* __restrict__ massive) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i < n) massive[i] = masses[i] > 0;
}

// Returns, for each body, the number of bodies with mass before it.
template <class Real>
DeviceArray<int> massive_before(const Real* masses, std::size_t count, cudaStream_t stream) {
  DeviceArray<int> before(count);
  const int n = static_cast<int>(count);
  find_massive<<<(n - 1) / kBlockSize + 1, kBlockSize, 0, stream>>>(masses, n, before.get());
  CubMemory().run([&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, before.get(), before.get(), n, stream);
  });
  return before;
}

}  // namespace

int Division::blocks(std::size_t count) const { return std::min(tiles(count), kMostBlocks); }

Plan plan_of(const Facts& facts, double softening) {
  return {unit_of(std::max(facts.length, softening)), unit_of(facts.mass), unit_of(facts.speed),
          facts.massive, facts.one_mass_tiles > 0};
}

Examination::Examination(int blocks, double softening, const Plan* expected, cudaStream_t stream)
    : partials_(static_cast<std::size_t>(blocks) + 1), stream_(stream) {
  report_ = {partials_.get(),
             mailbox_.facts(),
             mailbox_.arrived(),
             0,
             blocks,
             softening,
             expected != nullptr,
             expected != nullptr ? *expected : Plan{}};
  mailbox_.begin();
}

Examination::Report Examination::next_pass(int blocks) {
  const Report now = report_;
  report_.first += blocks;
  return now;
}

template <class Real>
void examine(const Pointers<Real>& from, const Real* centre, const Division& division,
             Examination& examination, cudaStream_t stream) {
  const Factor<Real> one(1);
  launch<float, Real>({from, centre, division, one, one, one, nullptr, nullptr, nullptr, nullptr,
                       nullptr, examination.next_pass(division.blocks(from.count))},
                      stream);
}
template void examine(const Pointers<float>&, const float*, const Division&, Examination&,
                      cudaStream_t);
template void examine(const Pointers<double>&, const double*, const Division&, Examination&,
                      cudaStream_t);

template <class To, class From>
Laid<To> lay_out(const Pointers<From>& from, const From* centre, const Division& division,
                 const Plan& plan, bool has_velocities, Examination* examination,
                 cudaStream_t stream) {
  Laid<To> to;
  to.n = static_cast<int>(from.count), to.massive = from.masses != nullptr ? plan.massive : 0;
  to.positions = DeviceArray<Four<To>>(from.count);
  if (has_velocities) to.velocities = DeviceArray<Four<To>>(from.count);
  DeviceArray<int> before;
  if (from.masses != nullptr && plan.massive < to.n) {
    to.order = DeviceArray<int>(from.count);
    before = massive_before(from.masses, from.count, stream);
  } else if (division.notes_masses) {
    to.tile_masses = DeviceArray<float>(static_cast<std::size_t>(division.tiles(from.count)));
  }
  launch<To, From>({from, centre, division, Factor<From>(plan.length), Factor<From>(plan.mass),
                    Factor<From>(plan.speed), before.get(), to.positions.get(), to.velocities.get(),
                    to.order.get(), to.tile_masses.get(),
                    examination != nullptr ? examination->next_pass(division.blocks(from.count))
                                           : Examination::Report{}},
                   stream);
  return to;
}
template Laid<float> lay_out(const Pointers<float>&, const float*, const Division&, const Plan&,
                             bool, Examination*, cudaStream_t);
template Laid<float> lay_out(const Pointers<double>&, const double*, const Division&, const Plan&,
                             bool, Examination*, cudaStream_t);
template Laid<double> lay_out(const Pointers<double>&, const double*, const Division&, const Plan&,
                              bool, Examination*, cudaStream_t);

}  // namespace nbody::library
