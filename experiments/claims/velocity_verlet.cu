// Project report, 1.2: velocity Verlet, x += v dt + a dt^2 / 2 and then v += (a + a') dt / 2. The
// method has order two, like this repository's leapfrog (drift, kick, drift). It costs only one sum
// of forces per time step, because the next step begins with the new accelerations.
//
//   velocity_verlet [BODIES]   measures speeds with BODIES bodies, orders with two bodies
#include "claim.h"

namespace {

constexpr int kBlock = 256;
constexpr float kSofteningSquared = 1e-4f;

__device__ inline float3 acceleration(const float4* x, float4 body, int n) {
  float3 a = make_float3(0, 0, 0);
  for (int j = 0; j < n; ++j) {
    const float dx = x[j].x - body.x, dy = x[j].y - body.y, dz = x[j].z - body.z;
    const float inverse_distance = rsqrtf(dx * dx + dy * dy + dz * dz + kSofteningSquared);
    const float s = x[j].w * inverse_distance * inverse_distance * inverse_distance;
    a.x += s * dx;
    a.y += s * dy;
    a.z += s * dz;
  }
  return a;
}

// Kicks with the mean of the old and the new accelerations. With dt = 0, it only computes the new
// accelerations.
__global__ void kick(const float4* x, float4* v, float3* accelerations, int n, float dt) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const float3 old = accelerations[i], a = acceleration(x, x[i], n);
  v[i].x += (old.x + a.x) * dt / 2;
  v[i].y += (old.y + a.y) * dt / 2;
  v[i].z += (old.z + a.z) * dt / 2;
  accelerations[i] = a;
}

__global__ void drift(float4* x, const float4* v, const float3* a, int n, float dt) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  x[i].x += v[i].x * dt + a[i].x * dt * dt / 2;
  x[i].y += v[i].y * dt + a[i].y * dt * dt / 2;
  x[i].z += v[i].z * dt + a[i].z * dt * dt / 2;
}

struct State {
  std::vector<float4> x, v;
};

enum class Method { velocity_verlet, leapfrog, kick_drift };

// The kick of leapfrog and of kick-drift, which use only the accelerations at the current
// positions.
__global__ void kick_once(const float4* x, float4* v, int n, float dt) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const float3 a = acceleration(x, x[i], n);
  v[i].x += a.x * dt;
  v[i].y += a.y * dt;
  v[i].z += a.z * dt;
}

State advanced(const State& start, Method method, int steps, float dt, double* seconds = nullptr) {
  const int n = static_cast<int>(start.x.size()), blocks = (n - 1) / kBlock + 1;
  const claim::OnDevice<float4> x(start.x), v(start.v);
  const claim::OnDevice<float3> a(std::vector<float3>(start.x.size(), make_float3(0, 0, 0)));
  const claim::OnDevice<float3> none(std::vector<float3>(start.x.size(), make_float3(0, 0, 0)));
  const auto run = [&] {
    if (method == Method::velocity_verlet) {
      kick<<<blocks, kBlock>>>(x.get(), v.get(), a.get(), n, 0.0f);
      for (int step = 0; step < steps; ++step) {
        drift<<<blocks, kBlock>>>(x.get(), v.get(), a.get(), n, dt);
        kick<<<blocks, kBlock>>>(x.get(), v.get(), a.get(), n, dt);
      }
      return;
    }
    const bool half = method == Method::leapfrog;
    for (int step = 0; step < steps; ++step) {
      if (half) drift<<<blocks, kBlock>>>(x.get(), v.get(), none.get(), n, dt / 2);
      kick_once<<<blocks, kBlock>>>(x.get(), v.get(), n, dt);
      drift<<<blocks, kBlock>>>(x.get(), v.get(), none.get(), n, half ? dt / 2 : dt);
    }
  };
  if (seconds != nullptr) {
    *seconds = claim::seconds_of(run);
  } else {
    run();
    CHECKED(cudaGetLastError());
  }
  return {x.host(), v.host()};
}

// Returns two bodies on an ellipse with an eccentricity of about 0.2.
State two_bodies() {
  return {{make_float4(-0.5f, 0, 0, 0.5f), make_float4(0.5f, 0, 0, 0.5f)},
          {make_float4(0, -0.45f, 0, 0), make_float4(0, 0.45f, 0, 0)}};
}

// Returns the error of the first body at time 2: its distance from the position that 4096 short
// steps give.
double error_after(Method method, int steps) {
  static const State right = advanced(two_bodies(), Method::velocity_verlet, 4096, 2.0f / 4096);
  const State found = advanced(two_bodies(), method, steps, 2.0f / static_cast<float>(steps));
  return std::hypot(found.x[0].x - right.x[0].x, found.x[0].y - right.x[0].y);
}

bool report(const char* name, Method method, double low, double high, const State& many) {
  const double coarse = error_after(method, 16), fine = error_after(method, 32);
  const double order = std::log2(coarse / fine);
  double seconds = 0;
  advanced(many, method, 4, 1e-4f, &seconds);
  const double n = static_cast<double>(many.x.size());
  claim::Line line("velocity_verlet");
  line.add("method", std::string(name));
  line.add("order", order);
  line.add("error_16_steps", coarse);
  line.add("bodies", n);
  line.add("seconds_per_step", seconds / 4);
  return line.print(order > low && order < high) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 65536;
  if (n < 1) {
    std::fprintf(stderr, "velocity_verlet: needs at least 1 body\n");
    return 2;
  }
  claim::Random random;
  State many;
  for (int i = 0; i < n; ++i) {
    const float x = random.next(), y = random.next(), z = random.next();
    many.x.push_back(make_float4(x, y, z, 1.0f / static_cast<float>(n)));
    many.v.push_back(make_float4(0, 0, 0, 0));
  }
  bool right = report("velocity Verlet", Method::velocity_verlet, 1.8, 2.3, many);
  right &= report("leapfrog, drift-kick-drift", Method::leapfrog, 1.8, 2.3, many);
  right &= report("kick-drift", Method::kick_drift, 0.7, 1.4, many);
  return right ? 0 : 1;
}
