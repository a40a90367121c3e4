// A call on a CUDA device: finds the arrays' device, copies what is on the host, brings bodies into
// the layout and units of the kernels, and stores the results.
//
// Values are examined on the device, in one pass that also finds units and massless bodies. The
// host waits for it, because the number of sources with mass decides which kernels run. With
// options.unchecked there is no such pass.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "library/cuda/failure.h"
#include "library/cuda/sums.h"

namespace nbody::library {
namespace {

constexpr int kBlockSize = 256;
// Up to this number of bodies step 13's one kernel is the fastest, above it step 12's
// (docs/report.md, "Which step for which size").
constexpr int kMostForOneKernel = 6144;

int blocks_for(std::size_t count) { return static_cast<int>((count - 1) / kBlockSize + 1); }

// ---- where arrays are ---------------------------------------------------------------------------

// Makes the device of a call current until the call ends.
class Device {
 public:
  Device() { CUDA_CHECK(cudaGetDevice(&before_)); }
  ~Device() {
    if (chosen_ >= 0) (void)cudaSetDevice(before_);
  }
  // Returns true if an array is on a device, and chooses that device.
  bool holds(const void* array) {
    if (array == nullptr) return false;
    cudaPointerAttributes attributes{};
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, array));
    if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
      return false;
    if (chosen_ >= 0 && chosen_ != attributes.device) throw CudaFailure{NBODY_TWO_DEVICES};
    if (chosen_ < 0 && attributes.device != before_) CUDA_CHECK(cudaSetDevice(attributes.device));
    chosen_ = attributes.device;
    return true;
  }

 private:
  int before_ = 0, chosen_ = -1;
};

// An array of a call: the caller's own if it is on the device, else a copy.
template <class Real>
class Input {
 public:
  Input(const Real* array, std::size_t count, bool is_on_device, cudaStream_t stream)
      : array_(array) {
    if (array == nullptr || count == 0 || is_on_device) return;
    copy_ = DeviceArray<Real>(count);
    CUDA_CHECK(cudaMemcpyAsync(copy_.get(), array, copy_.bytes(), cudaMemcpyHostToDevice, stream));
    array_ = copy_.get();
  }
  const Real* get() const { return array_; }

 private:
  const Real* array_;
  DeviceArray<Real> copy_;
};
template <class Real>
class Result {
 public:
  Result(Real* array, std::size_t count, bool is_on_device) : array_(array) {
    if (array != nullptr && count > 0 && !is_on_device) copy_ = DeviceArray<Real>(count);
  }
  Real* get() const { return copy_.size() > 0 ? copy_.get() : array_; }
  bool is_copied() const { return copy_.size() > 0; }
  void download(cudaStream_t stream) const {
    if (!is_copied()) return;
    CUDA_CHECK(cudaMemcpyAsync(array_, copy_.get(), copy_.bytes(), cudaMemcpyDeviceToHost, stream));
  }

 private:
  Real* array_;
  DeviceArray<Real> copy_;
};

// ---- values -------------------------------------------------------------------------------------

// Largest magnitudes are bits of doubles, which order as integers do.
struct Facts {
  unsigned long long length, mass, speed;
  int massive;
  int bad_position, bad_velocity, bad_mass;
};

// Sums up a warp's findings before it adds them to those of others.
__device__ void note_largest(unsigned long long* to, double value) {
  unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(value));
  for (int apart = 16; apart > 0; apart /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffff, bits, apart);
    bits = other > bits ? other : bits;
  }
  if (threadIdx.x % 32 == 0 && bits > 0) atomicMax(to, bits);
}
__device__ void note_wrong(int* to, bool wrong) {
  if (__any_sync(0xffffffff, wrong) && threadIdx.x % 32 == 0) *to = 1;
}

// Positions are measured from `centre`, or from the origin.
template <class Real>
__global__ void examine(const Real* __restrict__ positions, const Real* __restrict__ velocities,
                        const Real* __restrict__ masses, const Real* __restrict__ centre,
                        size_t count, Facts* facts) {
  const auto within = [](double value) { return fabs(value) <= kLargest; };
  double length = 0, speed = 0, mass = 0;
  bool bad_position = false, bad_velocity = false, bad_mass = false;
  int massive = 0;
  const size_t begin = blockIdx.x * static_cast<size_t>(kBlockSize) + threadIdx.x;
  for (size_t k = begin; k < 3 * count; k += static_cast<size_t>(gridDim.x) * kBlockSize) {
    const double x = positions[k];
    bad_position |= !within(x);
    length = fmax(length, fabs(centre != nullptr ? x - centre[k % 3] : x));
    if (velocities == nullptr) continue;
    const double v = velocities[k];
    bad_velocity |= !within(v);
    speed = fmax(speed, fabs(v));
  }
  for (size_t i = begin; masses != nullptr && i < count;
       i += static_cast<size_t>(gridDim.x) * kBlockSize) {
    const double m = masses[i];
    bad_mass |= !(m >= 0 && m <= kLargest);
    massive += m > 0;
    mass = fmax(mass, m);
  }
  note_largest(&facts->length, length);
  note_largest(&facts->speed, speed);
  note_largest(&facts->mass, mass);
  note_wrong(&facts->bad_position, bad_position);
  note_wrong(&facts->bad_velocity, bad_velocity);
  note_wrong(&facts->bad_mass, bad_mass);
  for (int apart = 16; apart > 0; apart /= 2)
    massive += __shfl_xor_sync(0xffffffff, massive, apart);
  if (threadIdx.x % 32 == 0 && massive > 0) atomicAdd(&facts->massive, massive);
}

double from_bits(unsigned long long bits) {
  double value = 0;
  static_assert(sizeof value == sizeof bits);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The middle of the sources, from which a tree measures float64 positions before it rounds them.
struct Point64 {
  double x, y, z;
};
struct Box64 {
  Point64 low, high;
};
struct BoxOf64 {
  __host__ __device__ Box64 operator()(const Point64& at) const { return {at, at}; }
};
struct BoxAround64 {
  __host__ __device__ Box64 operator()(const Box64& a, const Box64& b) const {
    return {{fmin(a.low.x, b.low.x), fmin(a.low.y, b.low.y), fmin(a.low.z, b.low.z)},
            {fmax(a.high.x, b.high.x), fmax(a.high.y, b.high.y), fmax(a.high.z, b.high.z)}};
  }
};
__global__ void find_middle(const Box64* box, double* middle) {
  middle[0] = 0.5 * (box->low.x + box->high.x);
  middle[1] = 0.5 * (box->low.y + box->high.y);
  middle[2] = 0.5 * (box->low.z + box->high.z);
}
DeviceArray<double> middle_of(const double* positions, int count, cudaStream_t stream) {
  const DeviceArray<Box64> box(1);
  DeviceArray<double> middle(3);
  const double infinity = std::numeric_limits<double>::infinity();
  const Point64 high{infinity, infinity, infinity}, low{-infinity, -infinity, -infinity};
  CubMemory().run([&](void* memory, std::size_t& bytes) {
    return cub::DeviceReduce::TransformReduce(
        memory, bytes, reinterpret_cast<const Point64*>(positions), box.get(), count, BoxAround64(),
        BoxOf64(), Box64{high, low}, stream);
  });
  find_middle<<<1, 1, 0, stream>>>(box.get(), middle.get());
  CUDA_CHECK(cudaGetLastError());
  return middle;
}

// ---- layout -------------------------------------------------------------------------------------

template <class Real>
__global__ void find_massive(const Real* __restrict__ masses, int n, int* __restrict__ massive) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i < n) massive[i] = masses[i] > 0;
}

struct Scale {
  double length, mass, speed;  // reciprocals of the units
};

// Brings bodies into the layout and the units of the kernels. With `before`, the number of bodies
// with mass before each, those with mass come first.
template <class To, class From>
__global__ void bring(const From* __restrict__ positions, const From* __restrict__ velocities,
                      const From* __restrict__ masses, const From* __restrict__ centre,
                      const int* __restrict__ before, int massive, int n, Scale scale,
                      Four<To>* __restrict__ to_positions, Four<To>* __restrict__ to_velocities,
                      int* __restrict__ order) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  const From mass = masses != nullptr ? masses[i] : From(0);
  const int place = before == nullptr ? i : mass > 0 ? before[i] : massive + i - before[i];
  const auto coordinate = [&](int k) {
    const From x = positions[3 * static_cast<size_t>(i) + k];
    return static_cast<To>((centre != nullptr ? x - centre[k] : x) *
                           static_cast<From>(scale.length));
  };
  to_positions[place] = {coordinate(0), coordinate(1), coordinate(2),
                         static_cast<To>(mass * static_cast<From>(scale.mass))};
  if (order != nullptr) order[place] = i;
  if (to_velocities == nullptr) return;
  const auto velocity = [&](int k) {
    return velocities == nullptr ? To(0)
                                 : static_cast<To>(velocities[3 * static_cast<size_t>(i) + k] *
                                                   static_cast<From>(scale.speed));
  };
  to_velocities[place] = {velocity(0), velocity(1), velocity(2), 0};
}

template <class Real>
__global__ void store_velocities(const float4* __restrict__ velocities,
                                 const int* __restrict__ order, int n, Output<Real> out) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  const size_t at = 3 * static_cast<size_t>(order != nullptr ? order[i] : i);
  const float4 a = velocities[i];
  out.accelerations[at] = static_cast<Real>(out.force * a.x);
  out.accelerations[at + 1] = static_cast<Real>(out.force * a.y);
  out.accelerations[at + 2] = static_cast<Real>(out.force * a.z);
}

// Bodies of a call in the kernels' layout, and the memory that they are in.
template <class Real>
struct Laid {
  DeviceArray<Four<Real>> positions = {}, velocities = {};
  DeviceArray<int> order = {};
  int n = 0, massive = 0;
  Bodies<Real> all() const { return {n, positions.get(), velocities.get(), order.get()}; }
  Bodies<Real> first(int count) const {
    return {count, positions.get(), velocities.get(), order.get()};
  }
  Bodies<Real> others() const {
    return {n - massive, positions.get() + massive, velocities.get() + massive,
            order.get() + massive};
  }
};

template <class Real>
struct Pointers {
  std::size_t count;
  const Real *positions, *velocities, *masses;
};

template <class To, class From>
Laid<To> lay_out(const Pointers<From>& from, int massive, const From* centre, const Scale& scale,
                 cudaStream_t stream) {
  const int n = static_cast<int>(from.count);
  Laid<To> to;
  to.n = n, to.massive = massive;
  to.positions = DeviceArray<Four<To>>(2 * from.count);  // step 13 needs them twice
  to.velocities = DeviceArray<Four<To>>(from.count);
  DeviceArray<int> before;
  if (massive < n && from.masses != nullptr) {
    to.order = DeviceArray<int>(from.count);
    before = DeviceArray<int>(from.count);
    find_massive<<<blocks_for(from.count), kBlockSize, 0, stream>>>(from.masses, n, before.get());
    CubMemory().run([&](void* memory, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(memory, bytes, before.get(), before.get(), n, stream);
    });
  }
  bring<To><<<blocks_for(from.count), kBlockSize, 0, stream>>>(
      from.positions, from.velocities, from.masses, centre, before.get(), massive, n, scale,
      to.positions.get(), to.velocities.get(), to.order.get());
  CUDA_CHECK(cudaGetLastError());
  return to;
}

// ---- calls --------------------------------------------------------------------------------------

template <class Real>
struct Problem {
  Quantity quantity;
  Pointers<Real> sources, targets;
  bool own;  // the targets are the sources
  double softening;
  const nbody_options& options;
  Output<Real> out;
  cudaStream_t stream;
};

struct Units {
  double length, mass, speed;
  int massive;
};

// Finds units and the number of sources with mass. Throws if a value is not allowed.
template <class Real>
Units examine_all(const Problem<Real>& problem, const Real* centre) {
  const int count = static_cast<int>(problem.sources.count);
  if (problem.options.unchecked != 0) return {1, 1, 1, count};
  const DeviceArray<Facts> facts(1);
  CUDA_CHECK(cudaMemsetAsync(facts.get(), 0, sizeof(Facts), problem.stream));
  const auto pass = [&](const Pointers<Real>& from) {
    if (from.count == 0) return;
    const int blocks =
        std::min(blocks_for(3 * from.count), 2 * device_attribute(cudaDevAttrMultiProcessorCount));
    examine<<<blocks, kBlockSize, 0, problem.stream>>>(from.positions, from.velocities, from.masses,
                                                       centre, from.count, facts.get());
  };
  pass(problem.sources);
  if (!problem.own) pass(problem.targets);
  Facts found{};
  CUDA_CHECK(
      cudaMemcpyAsync(&found, facts.get(), sizeof found, cudaMemcpyDeviceToHost, problem.stream));
  CUDA_CHECK(cudaStreamSynchronize(problem.stream));
  if (found.bad_position != 0) throw CudaFailure{NBODY_BAD_POSITION};
  if (found.bad_velocity != 0) throw CudaFailure{NBODY_BAD_VELOCITY};
  if (found.bad_mass != 0) throw CudaFailure{NBODY_BAD_MASS};
  return {unit_of(std::max(from_bits(found.length), problem.softening)),
          unit_of(from_bits(found.mass)), unit_of(from_bits(found.speed)), found.massive};
}

template <class Real>
void store(const Bodies<float>& bodies, const Problem<Real>& problem, const Output<Real>& out) {
  store_velocities<<<blocks_for(static_cast<std::size_t>(bodies.n)), kBlockSize, 0,
                     problem.stream>>>(bodies.velocities, bodies.order, bodies.n, out);
  CUDA_CHECK(cudaGetLastError());
}

// The accelerations of bodies by the bodies among them with mass, which come first.
void sum_own(const Laid<float>& bodies, float softening_squared, const Problem<float>& problem,
             const Output<float>& out) {
  const int massive = bodies.massive;
  if (massive < bodies.n && bodies.n <= kMostForOneKernel)
    return sum_at_targets(Quantity::accelerations, bodies.first(massive), bodies.all(), true,
                          softening_squared, out, problem.stream);
  (massive <= kMostForOneKernel ? sum_in_one_kernel : sum_each_pair_once)(
      bodies.positions.get(), bodies.velocities.get(), massive, softening_squared, problem.stream);
  store(bodies.first(massive), problem, out);
}

template <class Real>
void sum_in_tree(const Laid<float>& sources, const Laid<float>* targets, float softening_squared,
                 const Problem<Real>& problem, const Output<Real>& out) {
  const auto at = [&](const Bodies<float>& bodies, bool own) {
    if (bodies.n == 0) return;
    sum_by_tree(sources.first(sources.massive), bodies, own, problem.options, softening_squared,
                problem.stream);
    store(bodies, problem, out);
  };
  if (targets != nullptr) return at(targets->all(), false);
  at(sources.others(), false);  // before the walk for the sources moves them
  at(sources.first(sources.massive), true);
}

template <class Real>
void compute(const Problem<Real>& problem) {
  const bool tree = problem.options.method == NBODY_TREE;
  DeviceArray<Real> middle;
  if constexpr (std::is_same_v<Real, double>) {
    if (tree && problem.sources.count > 0)
      middle = middle_of(problem.sources.positions, static_cast<int>(problem.sources.count),
                         problem.stream);
  }
  const Real* const centre = middle.get();
  const Units units = examine_all(problem, centre);
  const std::size_t targets = problem.own ? problem.sources.count : problem.targets.count;
  Output<Real> out = problem.out;
  if (units.massive == 0) {
    const auto clear = [&](Real* array, std::size_t each) {
      if (array == nullptr) return;
      CUDA_CHECK(cudaMemsetAsync(array, 0, each * targets * sizeof(Real), problem.stream));
    };
    clear(out.accelerations, 3), clear(out.potentials, 1), clear(out.jerks, 3);
    return;
  }
  out.force = units.mass / units.length / units.length;
  out.potential = units.mass / units.length;
  out.jerk = out.force / units.length * units.speed;
  const Scale scale{1 / units.length, 1 / units.mass, 1 / units.speed};
  const auto run = [&](auto kind) {
    using To = decltype(kind);
    const double softening = softening_of<To>(problem.softening / units.length);
    const auto square = static_cast<To>(softening * softening);
    const Laid<To> sources =
        lay_out<To>(problem.sources, units.massive, centre, scale, problem.stream);
    Laid<To> others{};
    if (!problem.own) others = lay_out<To>(problem.targets, 0, centre, scale, problem.stream);
    if constexpr (std::is_same_v<To, float>) {
      if (tree) return sum_in_tree(sources, problem.own ? nullptr : &others, square, problem, out);
    }
    if constexpr (std::is_same_v<To, Real>) {
      const bool own = problem.own;
      if constexpr (std::is_same_v<To, float>) {
        if (own && problem.quantity == Quantity::accelerations) {
          const bool rest = units.massive < sources.n && sources.n > kMostForOneKernel;
          if (rest)  // before step 12 or 13 moves the sources
            sum_at_targets(problem.quantity, sources.first(units.massive), sources.others(), false,
                           square, out, problem.stream);
          return sum_own(sources, square, problem, out);
        }
      }
      sum_at_targets(problem.quantity, sources.first(units.massive),
                     own ? sources.all() : others.all(), own, square, out, problem.stream);
    }
  };
  if (tree) {
    run(float{});
  } else {
    run(Real{});
  }
}

}  // namespace

template <class Real>
int run_on_cuda(const Call<Real>& call) try {
  if (call.options->method == NBODY_TREE && call.quantity == Quantity::potential)
    return NBODY_NO_TREE_POTENTIAL;
  const Arrays<Real>& at = call.at();
  if (at.count == 0) return NBODY_OK;
  Device device;
  const auto stream = static_cast<cudaStream_t>(call.options->stream);
  const InStream here(stream);
  // All arrays choose the device before any memory is taken.
  const auto known = [&device](const auto*... arrays) {
    return std::array<bool, sizeof...(arrays)>{device.holds(arrays)...};
  };
  const auto [x_there, v_there, m_there, tx_there, tv_there] =
      known(call.sources.positions, call.sources.velocities, call.sources.masses,
            call.targets ? at.positions : nullptr, call.targets ? at.velocities : nullptr);
  const auto [a_there, p_there, j_there] = known(call.accelerations, call.potentials, call.jerks);
  const std::size_t n = call.sources.count;
  const Input<Real> x(call.sources.positions, 3 * n, x_there, stream);
  const Input<Real> v(call.sources.velocities, 3 * n, v_there, stream);
  const Input<Real> m(call.sources.masses, n, m_there, stream);
  const Input<Real> tx(call.targets ? at.positions : nullptr, 3 * at.count, tx_there, stream);
  const Input<Real> tv(call.targets ? at.velocities : nullptr, 3 * at.count, tv_there, stream);
  const Result<Real> a(call.accelerations, 3 * at.count, a_there);
  const Result<Real> p(call.potentials, at.count, p_there);
  const Result<Real> j(call.jerks, 3 * at.count, j_there);
  compute<Real>({call.quantity,
                 {n, x.get(), v.get(), m.get()},
                 {call.targets ? at.count : 0, tx.get(), tv.get(), nullptr},
                 !call.targets,
                 call.softening,
                 *call.options,
                 {a.get(), p.get(), j.get(), 1, 1, 1},
                 stream});
  a.download(stream), p.download(stream), j.download(stream);
  if (a.is_copied() || p.is_copied() || j.is_copied()) CUDA_CHECK(cudaStreamSynchronize(stream));
  return NBODY_OK;
} catch (const CudaFailure& failure) {
  return failure.result;
}

template int run_on_cuda(const Call<float>&);
template int run_on_cuda(const Call<double>&);

}  // namespace nbody::library
