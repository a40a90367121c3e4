// Calls one function several times and changes values in between. A call on a device first launches
// the kernels that the thread's last calls needed. If the values have changed, the call must notice
// this, and its result must equal the result of the same call in a new thread.
//
// usage: repeated_test [small]
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "nbody.h"
#ifdef RESULTS_ON_EMULATED_DEVICE
#include "call.h"
#endif

namespace {

constexpr float kSoftening = 0.05f;
int failures = 0;

struct Problem {
  std::vector<float> x, m, at;
  nbody_options options;

  // On the emulated device, the call writes directly to memory on the device. Then the test sees
  // what a failed call has stored.
  int accelerations(std::vector<float>& a) const {
    a.resize(at.empty() ? x.size() : at.size());
#ifdef RESULTS_ON_EMULATED_DEVICE
    const std::size_t bytes = a.size() * sizeof(float);
    auto* const there = static_cast<float*>(nbody::library::take_cuda_result(bytes));
    std::memcpy(there, a.data(), bytes);
    const int result = call(there);
    (void)nbody::library::wait_for_cuda(nullptr);
    std::memcpy(a.data(), there, bytes);
    nbody::library::return_cuda_result(there);
    return result;
#else
    return call(a.data());
#endif
  }
  int call(float* a) const {
    return nbody_accelerations_f32(m.size(), x.data(), m.data(), at.size() / 3,
                                   at.empty() ? nullptr : at.data(), kSoftening, &options, a);
  }
};

Problem make_problem(int n, int targets, int method) {
  Problem problem;
  std::uint64_t state = 5;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<double>(state >> 33) / 1073741824.0 - 1);
  };
  for (int k = 0; k < 3 * n; ++k) problem.x.push_back(next());
  for (int k = 0; k < n; ++k) problem.m.push_back((1.5f + next()) / static_cast<float>(n));
  for (int k = 0; k < 3 * targets; ++k) problem.at.push_back(next());
  nbody_default_options(&problem.options, sizeof problem.options);
  problem.options.device = NBODY_CUDA;
  problem.options.method = method;
  return problem;
}

void expect(bool holds, const char* kind, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s, %s\n", kind, what);
  ++failures;
}

struct Change {
  const char* name;
  std::function<void(Problem&)> make;
  int result;
};

void check(const Problem& usual, const char* kind) {
  const Change changes[] = {
      {"larger coordinates",
       [](Problem& p) {
         for (float& x : p.x) x *= 40;
       },
       NBODY_OK},
      {"one far body", [](Problem& p) { p.x[4] = 3e5f; }, NBODY_OK},
      {"smaller masses",
       [](Problem& p) {
         for (float& m : p.m) m *= 1e-20f;
       },
       NBODY_OK},
      {"a massless body", [](Problem& p) { p.m[7] = 0; }, NBODY_OK},
      {"few with mass",
       [](Problem& p) {
         for (float& m : p.m) m *= &m - p.m.data() < 9;
       },
       NBODY_OK},
      {"no mass",
       [](Problem& p) {
         for (float& m : p.m) m = 0;
       },
       NBODY_OK},
      {"NaN", [](Problem& p) { p.x.back() = NAN; }, NBODY_BAD_POSITION},
      {"infinity", [](Problem& p) { p.x.front() = INFINITY; }, NBODY_BAD_POSITION},
      {"a negative mass", [](Problem& p) { p.m[3] = -1e-9f; }, NBODY_BAD_MASS},
      {"an infinite mass", [](Problem& p) { p.m[3] = INFINITY; }, NBODY_BAD_MASS}};
  std::vector<float> first, found;
  expect(usual.accelerations(first) == NBODY_OK, kind, "the first call");
  for (const Change& change : changes) {
    for (int k = 0; k < 4; ++k)
      expect(usual.accelerations(found) == NBODY_OK && found == first, kind, "a call again");
    Problem changed = usual;
    change.make(changed);
    const std::vector<float> untouched = found;
    expect(changed.accelerations(found) == change.result, kind, change.name);
    if (change.result != NBODY_OK) {
      expect(found == untouched, kind, change.name);
      continue;
    }
    std::vector<float> alone;
    std::thread([&] { (void)changed.accelerations(alone); }).join();
    expect(found == alone, kind, change.name);
    expect(found != first, kind, change.name);
    for (int k = 0; k < 3; ++k)
      expect(changed.accelerations(found) == NBODY_OK && found == alone, kind, change.name);
  }
}

// A thread remembers the last calls of four kinds. Here five kinds take turns, then two.
void check_in_turn(int n) {
  std::vector<Problem> problems;
  for (int k = 0; k < 5; ++k) problems.push_back(make_problem(n + k, k * n / 3, NBODY_DIRECT));
  std::vector<std::vector<float>> first(problems.size());
  for (std::size_t turn = 0; turn < 20; ++turn) {
    const std::size_t k = turn < 10 ? turn % 5 : turn % 2;
    std::vector<float> found;
    expect(problems[k].accelerations(found) == NBODY_OK, "in turn", "a call");
    if (turn < 5) first[k] = found;
    expect(found == first[k], "in turn", "a call again");
  }
}

#ifdef RESULTS_ON_EMULATED_DEVICE
// Results may overwrite the positions, although blocks read these at different times.
void check_overlap() {
  const Problem problem = make_problem(300, 0, NBODY_DIRECT);
  std::vector<float> expected, found(problem.x.size());
  expect(problem.accelerations(expected) == NBODY_OK, "overlap", "results elsewhere");
  const std::size_t bytes = found.size() * sizeof(float);
  auto* const there = static_cast<float*>(nbody::library::take_cuda_result(bytes));
  std::memcpy(there, problem.x.data(), bytes);
  const int result = nbody_accelerations_f32(problem.m.size(), there, problem.m.data(), 0, nullptr,
                                             kSoftening, &problem.options, there);
  (void)nbody::library::wait_for_cuda(nullptr);
  std::memcpy(found.data(), there, bytes);
  nbody::library::return_cuda_result(there);
  expect(result == NBODY_OK && found == expected, "overlap", "results instead of the positions");
}
#endif

}  // namespace

int main(int argc, char**) {
  const int n = argc > 1 ? 40 : 300;  // with an argument: small, for compute-sanitizer
  check(make_problem(n, 0, NBODY_DIRECT), "direct");
  check(make_problem(n, n / 3, NBODY_DIRECT), "direct, targets");
  check(make_problem(n, 0, NBODY_TREE), "tree");
  check(make_problem(n, n / 3, NBODY_TREE), "tree, targets");
  check_in_turn(n);
#ifdef RESULTS_ON_EMULATED_DEVICE
  check_overlap();
#endif
  std::puts(failures > 0 ? "FAILED" : "all right");
  return failures > 0;
}
