// The pass over the bodies of a call, which examines them and converts them to the kernels' layout.
#include <algorithm>
#include <cmath>

#include "library/cuda/prepare.h"

namespace nbody::library {
namespace {

constexpr int kBlockSize = 256;
constexpr int kMostBlocks = 512;  // of a pass
constexpr unsigned kAllLanes = 0xffffffff;

// What the kernel does; null pointers omit parts of it.
template <class To, class From>
struct Pass {
  Pointers<From> from;
  const From* centre;
  Division division;
  double length, mass, speed;  // reciprocals of the units
  const int* before;           // number of bodies with mass before each; null: the order stays
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

// The findings of a thread.
struct Found {
  double length = 0, mass = 0, speed = 0;  // largest magnitudes
  int massive = 0, one_mass_tiles = 0, wrong = 0;
};

template <class Real>
__device__ void examine(const Body<Real>& body, const Real* centre, Found& found) {
  const auto note = [&found](double value, double from, int bit, double& largest) {
    if (fabs(value) <= kLargest) {
      largest = fmax(largest, fabs(value - from));
    } else {
      found.wrong |= bit;  // it is too large, or NaN
    }
  };
  for (int k = 0; k < 3; ++k) {
    note(body.x[k], centre != nullptr ? centre[k] : Real(0), 1, found.length);
    note(body.v[k], 0, 2, found.speed);
  }
  note(body.mass, 0, 4, found.mass);
  if (body.mass < 0) found.wrong |= 4;
  found.massive += body.mass > 0;
}

// Returns e with 2^(e - 1) <= largest < 2^e, as unit_of().
__host__ __device__ int exponent_of(double largest) {
  return largest > 0 ? ilogb(largest) + 1 : Facts::kNone;
}

__device__ Facts facts_of_warp(const Found& found) {
  Facts facts = no_facts();
  facts.length = exponent_of(found.length);
  facts.mass = exponent_of(found.mass);
  facts.speed = exponent_of(found.speed);
  facts.massive = found.massive;
  facts.one_mass_tiles = found.one_mass_tiles;
  facts.wrong = found.wrong;
  for (int apart = 16; apart > 0; apart /= 2) {
    const auto other = [apart](int mine) { return __shfl_xor_sync(kAllLanes, mine, apart); };
    facts.length = max(facts.length, other(facts.length));
    facts.mass = max(facts.mass, other(facts.mass));
    facts.speed = max(facts.speed, other(facts.speed));
    facts.massive += other(facts.massive);
    facts.one_mass_tiles += other(facts.one_mass_tiles);
    facts.wrong |= other(facts.wrong);
  }
  return facts;
}

__device__ void add(Facts& sum, const Facts& facts) {
  if (facts.length > Facts::kNone) atomicMax(&sum.length, facts.length);
  if (facts.mass > Facts::kNone) atomicMax(&sum.mass, facts.mass);
  if (facts.speed > Facts::kNone) atomicMax(&sum.speed, facts.speed);
  if (facts.massive > 0) atomicAdd(&sum.massive, facts.massive);
  if (facts.one_mass_tiles > 0) atomicAdd(&sum.one_mass_tiles, facts.one_mass_tiles);
  if (facts.wrong != 0) atomicOr(&sum.wrong, facts.wrong);
}

__device__ bool fits(const Facts& facts, const Plan& plan, int softening) {
  const auto is_unit = [](int exponent, int unit) {
    return unit == (exponent > Facts::kNone ? exponent : 0);
  };
  return facts.wrong == 0 && facts.massive == plan.massive &&
         (facts.one_mass_tiles > 0) == plan.has_one_mass_tiles &&
         is_unit(max(facts.length, softening), plan.length) && is_unit(facts.mass, plan.mass) &&
         is_unit(facts.speed, plan.speed);
}

// Adds up the findings of the threads of a block, in shared memory that holds no_facts(), and then
// those of the blocks. The last block to arrive reports the sums, and clears them.
__device__ void report(const Found& found, Facts& of_block, const Examination::Report& to) {
  const Facts of_warp = facts_of_warp(found);
  __syncthreads();  // of_block is initialised
  if (threadIdx.x % 32 == 0) add(of_block, of_warp);
  __syncthreads();  // all warps have added
  if (threadIdx.x > 0) return;
  add(to.sums->facts, of_block);
  __threadfence();  // a block that sees the count also sees the sums
  if (atomicAdd(&to.sums->arrived, 1u) + 1 < static_cast<unsigned>(to.blocks)) return;
  __threadfence();
  Facts all = to.sums->facts;
  all.as_expected = to.expects && fits(all, to.expected, to.softening);
  *to.is_expected = all.as_expected;
  *to.host = all;
  *to.sums = {no_facts(), 0};
}

// ---- laying out ---------------------------------------------------------------------------------

// If units are only expected, a value may be wrong in any way. A wrong value becomes zero, so that
// the kernels that follow terminate. Their results are not stored.
template <class To>
__device__ To scaled(double value, double factor, bool is_expected) {
  const double result = value * factor;
  return static_cast<To>(is_expected && !(fabs(result) <= 2) ? 0 : result);
}

template <class To, class From>
__device__ void store(const Pass<To, From>& pass, std::size_t i, const Body<From>& body) {
  const bool expected = pass.report.expects;
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

// A block has as many threads as a tile has bodies.
template <class To, class From>
__global__ void __launch_bounds__(1024) prepare(const Pass<To, From> pass) {
  __shared__ Facts of_block;
  if (threadIdx.x == 0) of_block = no_facts();
  const std::size_t tile = blockDim.x, count = pass.from.count;
  Found found{};
  for (std::size_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
    const std::size_t i = first + threadIdx.x;
    bool same = false;  // massless bodies fill up the last tile
    if (i < count) {
      const Body<From> body = load(pass, i);
      if (pass.report.host != nullptr) examine(body, pass.centre, found);
      if (pass.positions != nullptr) store(pass, i, body);
      same = pass.division.notes_masses && body.mass == pass.from.masses[first];
    }
    if (!pass.division.notes_masses) continue;
    same = __syncthreads_and(same);
    if (threadIdx.x > 0) continue;
    found.one_mass_tiles += same;
    if (pass.tile_masses != nullptr)
      pass.tile_masses[first / tile] =
          same ? scaled<float>(pass.from.masses[first], pass.mass, pass.report.expects) : -1.0f;
  }
  if (pass.report.host != nullptr) report(found, of_block, pass.report);
}

template <class To, class From>
void launch(const Pass<To, From>& pass, cudaStream_t stream) {
  if (pass.from.count == 0) return;
  const Division& division = pass.division;
  prepare<<<division.blocks(pass.from.count), division.tile, 0, stream>>>(pass);
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
  const auto unit = [](int exponent) { return exponent > Facts::kNone ? exponent : 0; };
  return {unit(std::max(facts.length, exponent_of(softening))), unit(facts.mass), unit(facts.speed),
          facts.massive, facts.one_mass_tiles > 0};
}

Examination::Examination(int blocks, double softening, const Plan* expected, cudaStream_t stream)
    : is_expected_(1), stream_(stream) {
  report_ = {mailbox_.facts(),
             mailbox_.sums(),
             is_expected_.get(),
             blocks,
             exponent_of(softening),
             expected != nullptr,
             expected != nullptr ? *expected : Plan{}};
  mailbox_.begin();
}

template <class Real>
void examine(const Pointers<Real>& from, const Real* centre, const Division& division,
             Examination& examination, cudaStream_t stream) {
  Pass<float, Real> pass{};
  pass.from = from, pass.centre = centre, pass.division = division;
  pass.report = examination.report();
  launch(pass, stream);
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
  launch<To, From>({from, centre, division, std::ldexp(1.0, -plan.length),
                    std::ldexp(1.0, -plan.mass), std::ldexp(1.0, -plan.speed), before.get(),
                    to.positions.get(), to.velocities.get(), to.order.get(), to.tile_masses.get(),
                    examination != nullptr ? examination->report() : Examination::Report{}},
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
