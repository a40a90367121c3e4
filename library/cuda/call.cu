// Executes a call on a CUDA device: examines the values, converts bodies to the layout of the
// kernels, and chooses the kernels.
//
// The number of sources with mass decides which kernels run, so the host must know what the
// examination found. Waiting for these findings takes longer than a small kernel. So a thread
// remembers what the examinations of its last calls found. If the findings of two calls of a kind
// agree, the next such call launches the same kernels at once. These kernels store their results
// only if the examination of this call has the same findings. Otherwise the call then launches the
// right kernels. With options.unchecked there is no examination. For a few thousand bodies, the
// kernel that adds up the sums also examines the values, so the host does not have to know
// anything.
#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>

#include "library/cuda/arrays.h"
#include "library/cuda/prepare.h"

namespace nbody::library {
namespace {

// Up to this number of bodies, the single kernel of step 13 is fastest; with more bodies, the
// kernels of step 12 are (docs/report.md, "Which step for which size").
constexpr int kMostForOneKernel = 6144;
// Up to this number of bodies, it takes longer to leave massless bodies out of step 12's pairs than
// to compute them, because two smaller launches do not fill the device.
constexpr int kMostWithMassless = 20480;

template <class Real>
bool overlap(const Real* a, std::size_t a_count, const Real* b, std::size_t b_count) {
  const std::less<const Real*> before;
  return before(a, b + b_count) && before(b, a + a_count);
}

template <class Real>
struct Problem {
  Quantity quantity;
  Pointers<Real> sources, targets;
  bool own;  // the targets are the sources
  double softening;
  const nbody_options& options;
  Output<Real> out;
  const Real* centre;
  cudaStream_t stream;

  bool in_tree() const { return options.method == NBODY_TREE; }
  // True for float32 forces of bodies on each other, which steps 12 and 13 have kernels for.
  bool in_pairs() const {
    return std::is_same_v<Real, float> && own && !in_tree() && quantity == Quantity::accelerations;
  }
  // True if one kernel can do everything. The blocks of this kernel read the bodies at different
  // times, so the results must not overwrite bodies.
  bool in_one_kernel() const {
    if (!in_pairs() || sources.count > kMostForOneKernel) return false;
    const std::size_t n = sources.count;
    return !overlap(out.accelerations, 3 * n, sources.positions, 3 * n) &&
           !overlap(out.accelerations, 3 * n, sources.masses, n) &&
           fits_one_kernel(static_cast<int>(n));
  }
  Division division() const {
    const int n = static_cast<int>(sources.count);
    if (!in_pairs() || n <= kMostForOneKernel) return {};
    return {static_cast<std::size_t>(tile_of_pairs(n)), true};
  }
};

// ---- sums ---------------------------------------------------------------------------------------

template <class Real>
void sum_in_tree(const Laid<float>& sources, const Laid<float>* targets, float softening_squared,
                 const Problem<Real>& problem, const Output<Real>& out) {
  const auto at = [&](const Bodies<float>& bodies, bool own) {
    sum_by_tree(problem.quantity, sources.first(sources.massive), bodies, own, problem.options,
                softening_squared, out, problem.stream);
  };
  if (targets != nullptr) return at(targets->all(), false);
  at(sources.first(sources.massive), true);
  if (sources.massive < sources.n) at(sources.others(), false);
}

// Computes the accelerations that the bodies with mass, which come first, cause in all bodies.
void sum_in_pairs(const Laid<float>& bodies, const Plan& plan, float softening_squared,
                  const Output<float>& out, cudaStream_t stream) {
  const Bodies<float> massive = bodies.first(plan.massive);
  const auto sum_at = [&](const Bodies<float>& targets, bool own) {
    sum_at_targets(Quantity::accelerations, massive, targets, own, softening_squared, out, stream);
  };
  if (plan.massive < bodies.n) {
    if (bodies.n <= kMostForOneKernel) return sum_at(bodies.all(), true);
    if (bodies.n <= kMostWithMassless)
      return sum_each_pair_once(bodies.all(), nullptr, true, softening_squared, out, stream);
    sum_at(bodies.others(), false);
  }
  if (plan.massive <= kMostForOneKernel)
    return sum_in_one_kernel(massive, softening_squared, out, stream);
  const bool is_known = bodies.tile_masses.size() > 0;
  sum_each_pair_once(massive, bodies.tile_masses.get(), !is_known || plan.has_one_mass_tiles,
                     softening_squared, out, stream);
}

// ---- launches -----------------------------------------------------------------------------------

// Launches all kernels of a call; they compute in the type To. If `examination` is not null, the
// kernels also examine the values, and store results only if the values need this plan.
template <class To, class Real>
void launch_in(const Problem<Real>& problem, const Plan& plan, Examination* examination) {
  const bool tree = problem.in_tree(), moving = problem.quantity == Quantity::jerk;
  const auto lay = [&](const Pointers<Real>& from, const Division& division) {
    return lay_out<To>(from, problem.centre, division, plan, moving, examination, problem.stream);
  };
  const Laid<To> sources = lay(problem.sources, problem.division());
  Laid<To> others{};
  if (!problem.own) others = lay(problem.targets, {});
  Output<Real> out = problem.out;
  if (examination != nullptr) out.is_expected = examination->is_expected();
  const ResultUnits unit(plan.length, plan.mass, plan.speed);
  out.force = unit.force, out.potential = unit.potential, out.jerk = unit.jerk;
  const To square = softening_squared_of<To>(problem.softening / plan.length);
  if constexpr (std::is_same_v<To, float>)
    if (tree) return sum_in_tree(sources, problem.own ? nullptr : &others, square, problem, out);
  if constexpr (std::is_same_v<Real, float>)
    if (problem.in_pairs()) return sum_in_pairs(sources, plan, square, out, problem.stream);
  if constexpr (std::is_same_v<To, Real>)
    sum_at_targets(problem.quantity, sources.first(plan.massive),
                   problem.own ? sources.all() : others.all(), problem.own, square, out,
                   problem.stream);
}

template <class Real>
void launch(const Problem<Real>& problem, const Plan& plan, Examination* examination) {
  if (plan.massive == 0) {  // no source has mass
    const std::size_t targets = problem.own ? problem.sources.count : problem.targets.count;
    const auto clear = [&](Real* array, std::size_t each) {
      if (array == nullptr) return;
      CUDA_CHECK(cudaMemsetAsync(array, 0, each * targets * sizeof(Real), problem.stream));
    };
    return clear(problem.out.accelerations, 3), clear(problem.out.potentials, 1),
           clear(problem.out.jerks, 3);
  }
  if (problem.in_tree()) return launch_in<float>(problem, plan, examination);
  launch_in<Real>(problem, plan, examination);
}

// ---- what calls have in common ------------------------------------------------------------------

// The facts that a thread remembers of its last call with the same arguments.
struct Last {
  struct Arguments {
    int device = -1;
    Quantity quantity = {};
    int method = 0;
    bool is_double = false, own = false;
    std::size_t sources = 0, targets = 0;
    friend bool operator==(const Arguments&, const Arguments&) = default;
  };
  Arguments arguments;
  Plan plan;
  int alike = 0;  // number of calls in a row with these arguments and this plan
  std::size_t bytes = 0;

  // A plan is expected only if the last two calls needed it, because two plans might alternate.
  const Plan* expected() const { return alike >= 2 && plan.massive > 0 ? &plan : nullptr; }
  void note(const Plan& found) {
    alike = found == plan ? alike + 1 : 1;
    plan = found;
  }
};
// A thread remembers several kinds of calls, because a program may compute forces and potentials in
// turn. The newest is first.
Last& last_call(const Last::Arguments& arguments) {
  thread_local std::array<Last, 4> recent;
  auto found = std::ranges::find(recent, arguments, &Last::arguments);
  if (found == recent.end()) *--found = {arguments, {}, 0, 0};  // forgets the oldest
  std::rotate(recent.begin(), found, found + 1);
  return recent.front();
}

template <class Real>
void compute(const Problem<Real>& problem, Last& last) {
  if constexpr (std::is_same_v<Real, float>)
    if (problem.in_one_kernel()) {
      const bool is_checked = problem.options.unchecked == 0;
      const int wrong =
          sum_in_one_kernel(problem.sources.positions, problem.sources.masses,
                            static_cast<int>(problem.sources.count), problem.softening, is_checked,
                            problem.out.accelerations, problem.stream);
      if (wrong != NBODY_OK) throw CudaFailure{wrong};
      return;
    }
  if (problem.options.unchecked != 0) {
    Plan plan;
    plan.massive = static_cast<int>(problem.sources.count);
    return launch(problem, plan, nullptr);
  }
  const Plan* const expected = last.expected();
  const Division division = problem.division();
  const int blocks =
      division.blocks(problem.sources.count) + Division{}.blocks(problem.targets.count);
  Examination examination(blocks, problem.softening, expected, problem.stream);
  if (expected != nullptr) {
    launch(problem, *expected, &examination);
  } else {
    examine(problem.sources, problem.centre, division, examination, problem.stream);
    examine(problem.targets, problem.centre, {}, examination, problem.stream);
  }
  const Facts found = examination.wait();
  if (found.wrong != NBODY_OK) throw CudaFailure{found.wrong};
  if (expected != nullptr && found.as_expected != 0) return last.note(*expected);
  const Plan plan = plan_of(found, problem.softening);
  last.note(plan);
  launch(problem, plan, nullptr);
}

}  // namespace

template <class Real>
int run_on_cuda(const Call<Real>& call) try {
  const Arrays<Real>& at = call.at();
  if (at.count == 0) return NBODY_OK;
  Device device(call.arrays_on);
  const auto stream = static_cast<cudaStream_t>(call.options->stream);
  // Looks at all arrays before any memory is allocated, because they determine the device.
  const auto known = [&device](const auto*... arrays) {
    return std::array<bool, sizeof...(arrays)>{device.holds(arrays)...};
  };
  const auto [x_there, v_there, m_there, tx_there, tv_there] =
      known(call.sources.positions, call.sources.velocities, call.sources.masses,
            call.targets ? at.positions : nullptr, call.targets ? at.velocities : nullptr);
  const auto [a_there, p_there, j_there] = known(call.accelerations, call.potentials, call.jerks);
  const std::size_t n = call.sources.count, targets = call.targets ? at.count : 0;
  Last& last = last_call({device.number(), call.quantity, call.options->method,
                          std::is_same_v<Real, double>, !call.targets, n, targets});
  const InCall here(stream, last.bytes);
  const Input<Real> x(call.sources.positions, 3 * n, x_there, stream);
  const Input<Real> v(call.sources.velocities, 3 * n, v_there, stream);
  const Input<Real> m(call.sources.masses, n, m_there, stream);
  const Input<Real> tx(call.targets ? at.positions : nullptr, 3 * at.count, tx_there, stream);
  const Input<Real> tv(call.targets ? at.velocities : nullptr, 3 * at.count, tv_there, stream);
  const Result<Real> a(call.accelerations, 3 * at.count, a_there);
  const Result<Real> p(call.potentials, at.count, p_there);
  const Result<Real> j(call.jerks, 3 * at.count, j_there);
  DeviceArray<Real> middle;
  if constexpr (std::is_same_v<Real, double>)
    if (call.options->method == NBODY_TREE && n > 0)
      middle = middle_of(x.get(), static_cast<int>(n), stream);
  compute<Real>({call.quantity,
                 {n, x.get(), v.get(), m.get()},
                 {targets, tx.get(), tv.get(), nullptr},
                 !call.targets,
                 call.softening,
                 *call.options,
                 {a.get(), p.get(), j.get(), {}, {}, {}, nullptr},
                 middle.get(),
                 stream},
                last);
  last.bytes = here.taken_bytes();
  a.download(stream), p.download(stream), j.download(stream);
  if (a.is_copied() || p.is_copied() || j.is_copied()) CUDA_CHECK(cudaStreamSynchronize(stream));
  return NBODY_OK;
} catch (const CudaFailure& failure) {
  return failure.result;
}

template int run_on_cuda(const Call<float>&);
template int run_on_cuda(const Call<double>&);

}  // namespace nbody::library
