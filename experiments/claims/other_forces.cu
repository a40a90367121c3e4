// GPU Gems 3, introduction: the sum over all pairs also computes electrostatic and van der Waals
// forces (Lennard-Jones). One kernel computes three laws of force.
//
//   other_forces [BODIES]
#include "claim.h"

namespace {

constexpr int kBlock = 256;

// The force of a source on a body is strength() times the vector (dx, dy, dz) between them. The w
// of a body is its mass or its charge. A body exerts no force on itself, because the vector to
// itself is zero.
struct Gravity {
  static constexpr const char* name = "gravity";
  template <class Real>
  __host__ __device__ static Real strength(Real r2, Real source, Real) {
    const Real softened = r2 + static_cast<Real>(1e-4);
    return source / (softened * sqrt(softened));
  }
};
struct Electrostatic {
  static constexpr const char* name = "electrostatic";
  template <class Real>
  __host__ __device__ static Real strength(Real r2, Real source, Real body) {
    const Real softened = r2 + static_cast<Real>(1e-4);
    return -source * body / (softened * sqrt(softened));  // equal charges repel each other
  }
};
struct VanDerWaals {  // Lennard-Jones with depth and diameter 1
  static constexpr const char* name = "van der Waals";
  template <class Real>
  __host__ __device__ static Real strength(Real r2, Real, Real) {
    if (r2 == 0) return 0;
    const Real inverse = 1 / r2, sixth = inverse * inverse * inverse;
    return 24 * inverse * sixth * (1 - 2 * sixth);  // repels nearby bodies, attracts distant ones
  }
};

template <class Law, class Real, class Sum>
__host__ __device__ inline void interact(float4 source, float4 body, Sum& sum) {
  const Real dx = static_cast<Real>(source.x) - body.x;
  const Real dy = static_cast<Real>(source.y) - body.y;
  const Real dz = static_cast<Real>(source.z) - body.z;
  const Real s = Law::template strength<Real>(dx * dx + dy * dy + dz * dz, source.w, body.w);
  sum.x += s * dx;
  sum.y += s * dy;
  sum.z += s * dz;
}

template <class Law>
__global__ void forces_on(const float4* __restrict__ bodies, float3* forces, int n) {
  __shared__ float4 tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 body = bodies[i < n ? i : 0];
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += kBlock) {
    const int rest = n - first < kBlock ? n - first : kBlock;
    if (threadIdx.x < rest) tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();  // no thread may read the tile before it is complete
    for (int k = 0; k < rest; ++k) interact<Law, float>(tile[k], body, sum);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i < n) forces[i] = sum;
}

// A lattice with a spacing of about 1.2, each body slightly displaced; charges of both signs.
std::vector<float4> lattice(int n) {
  claim::Random random;
  std::vector<float4> bodies;
  int side = 1;
  while (side * side * side < n) ++side;
  for (int i = 0; i < n; ++i) {
    const float x = 1.2f * (i % side) + 0.2f * random.next();
    const float y = 1.2f * (i / side % side) + 0.2f * random.next();
    const float z = 1.2f * (i / side / side) + 0.2f * random.next();
    bodies.push_back(make_float4(x, y, z, i % 2 == 0 ? 1.0f : -1.0f));
  }
  return bodies;
}

template <class Law>
bool measure(std::vector<float4> host) {
  const int n = static_cast<int>(host.size());
  if (Law::name == Gravity::name) {
    for (float4& body : host) body.w = 1.0f / static_cast<float>(n);
  }
  const claim::OnDevice<float4> bodies(host);
  const claim::OnDevice<float3> forces(std::vector<float3>(host.size()));
  const double seconds = claim::seconds_of(
      [&] { forces_on<Law><<<(n - 1) / kBlock + 1, kBlock>>>(bodies.get(), forces.get(), n); });
  const auto found = forces.host();
  struct Sum {
    double x = 0, y = 0, z = 0;
  };
  claim::Error error;
  for (int sample = 0; sample < 64; ++sample) {
    const int i = static_cast<int>(static_cast<long long>(n - 1) * sample / 63);
    Sum right;
    for (const float4& source : host) interact<Law, double>(source, host[i], right);
    error.add(found[i].x, right.x);
    error.add(found[i].y, right.y);
    error.add(found[i].z, right.z);
  }
  claim::Line line("other_forces");
  line.add("law", std::string(Law::name));
  line.add("bodies", n);
  line.add("interactions_per_second", static_cast<double>(n) * n / seconds);
  line.add("error", error.rms());
  return line.print(error.rms() < 2e-4) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 65536;
  if (n < 2) {
    std::fprintf(stderr, "other_forces: needs at least 2 bodies\n");
    return 2;
  }
  const auto bodies = lattice(n);
  const bool right =
      measure<Gravity>(bodies) & measure<Electrostatic>(bodies) & measure<VanDerWaals>(bodies);
  return right ? 0 : 1;
}
