// Activity map, 4.4.1: with a guard around the barriers, 30 bodies are wrong for N = 10270, but
// none for N = 10240. In the last block, threads beyond the last body never load their share of a
// tile, so the 30 remaining threads read memory that nobody wrote.
//
//   out_of_sync [BODIES [STEPS [FILE]]]   writes each body's final x and y, and whether it is wrong
#include "claim.h"

namespace {

constexpr int kThreads = 256;
constexpr float kDt = 0.01f, kSofteningSquared = 0.0025f;

struct Body {
  float x, y, vx, vy;
};

__device__ inline void interact(float2 source, const Body& body, float mass, float2& sum) {
  const float dx = source.x - body.x, dy = source.y - body.y;
  const float inverse_distance = rsqrtf(dx * dx + dy * dy + kSofteningSquared);
  const float s = mass * inverse_distance * inverse_distance * inverse_distance;
  sum.x += s * dx;
  sum.y += s * dy;
}

// The guard encloses either everything or only the work on the thread's own body.
template <bool guard_around_barriers>
__global__ void kick(Body* bodies, int n) {
  __shared__ float2 tile[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (guard_around_barriers && i >= n) return;
  const Body body = bodies[i < n ? i : 0];
  const float mass = 1.0f / static_cast<float>(n);
  float2 sum = make_float2(0, 0);
  for (int first = 0; first < n; first += kThreads) {
    const int j = first + threadIdx.x;
    if (j < n) tile[threadIdx.x] = make_float2(bodies[j].x, bodies[j].y);
    __syncthreads();
    const int rest = n - first < kThreads ? n - first : kThreads;
    for (int k = 0; k < rest; ++k) interact(tile[k], body, mass, sum);
    __syncthreads();
  }
  if (i >= n) return;
  bodies[i].vx += sum.x * kDt;
  bodies[i].vy += sum.y * kDt;
}

__global__ void drift(Body* bodies, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  bodies[i].x += bodies[i].vx * kDt;
  bodies[i].y += bodies[i].vy * kDt;
}

template <bool guard_around_barriers>
std::vector<Body> simulated(const std::vector<Body>& start, int steps) {
  const claim::OnDevice<Body> bodies(start);
  const int n = static_cast<int>(start.size()), blocks = (n - 1) / kThreads + 1;
  for (int step = 0; step < steps; ++step) {
    kick<guard_around_barriers><<<blocks, kThreads>>>(bodies.get(), n);
    drift<<<blocks, kThreads>>>(bodies.get(), n);
  }
  CHECKED(cudaGetLastError());
  return bodies.host();
}

// The comparison is written so that NaN counts as wrong.
bool is_wrong(const Body& found, const Body& right) {
  return !(std::hypot(found.x - right.x, found.y - right.y) < 1e-3);
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10270, steps = argc > 2 ? std::atoi(argv[2]) : 100;
  if (n < 1 || steps < 1) {
    std::fprintf(stderr, "out_of_sync: needs at least 1 body and 1 step\n");
    return 2;
  }
  claim::Random random;
  std::vector<Body> start(static_cast<std::size_t>(n));
  for (Body& body : start) {
    const float x = 2 * random.next() - 1;
    body = {x, 2 * random.next() - 1, 0, 0};
  }
  const auto right = simulated<false>(start, steps), found = simulated<true>(start, steps);
  int wrong = 0, wrong_in_last_block = 0;
  std::FILE* const file = argc > 3 ? std::fopen(argv[3], "w") : nullptr;
  if (file != nullptr) std::fprintf(file, "x,y,wrong\n");
  for (int i = 0; i < n; ++i) {
    const bool is = is_wrong(found[i], right[i]);
    wrong += is;
    wrong_in_last_block += is && i >= n / kThreads * kThreads;
    if (file != nullptr) std::fprintf(file, "%.4f,%.4f,%d\n", found[i].x, found[i].y, is ? 1 : 0);
  }
  if (file != nullptr) std::fclose(file);
  claim::Line line("out_of_sync");
  line.add("bodies", n);
  line.add("steps", steps);
  line.add("in_the_last_block", n % kThreads);
  line.add("wrong", wrong);
  line.add("wrong_in_the_last_block", wrong_in_last_block);
  return line.print(n % kThreads != 0 || wrong == 0);
}
