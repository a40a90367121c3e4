// The field of distant nodes around a point: a Taylor series of the potential, order by order.
//
// A node pulls a body at the point plus d with the gradient of f(x + d), where
// f(x) = m / s, s^2 = x^2 + eps^2, and x leads from the node's centre to the point. Around d = 0,
//   f(x + d) = m sum_k b_k d^k,  b_k = (1 / k!) D^k (1 / s),  k = (kx, ky, kz), d^k = dx^kx dy^ky
//   dz^kz.
// (n - 1)-fold differentiation of s^2 grad(1 / s) = -x / s, with n = kx + ky + kz, gives
//   n s^2 b_k = -(2 n - 1) sum_i x_i b_(k - e_i) - (n - 1) sum_i b_(k - 2 e_i)
// (Duan and Krasny, Journal of Computational Chemistry 22, 2001), so each b_k takes only a few
// operations.
#pragma once

#include "nbody/multi_index.h"
#include "nbody/step.h"
#include "step15_barnes_hut/tree.h"

namespace series {
using namespace nbody;

// The coefficients of orders 1 to kTop; a constant potential exerts no force. kOrder is that of the
// acceleration: at least 2 for the quadrupole, and at most 5, because the terms are in registers.
template <int kOrder>
struct Series {
  static_assert(kOrder >= 2 && kOrder <= 5);
  static constexpr int kTop = kOrder + 1, kTerms = terms_below(kTop + 1);
  float of[kTerms] = {};

  // Adds a node (M2L). Its quadrupole Q = 3 sum m_k u_k u_k^T adds sum_ij Q_ij D_i D_j (1 / s)
  // / 6, up to the order of the last b_k. Lengths are multiplied by `unit`, so that no power of a
  // distance overflows.
  template <bool kQuadrupole>
  __device__ void add(const tree::Node& node, float3 point, float unit, float softening_squared) {
    const float3 v = unit * (point - xyz(node.centre));
    const float s = rsqrtf(dot(v, v, unit * unit * softening_squared)), w = s * s;
    const float x[3] = {-w * v.x, -w * v.y, -w * v.z};
    float b[kTerms];
    b[0] = s;
    for_each_term<kTerms>([&]<int kPlace>() {
      constexpr Term k = kTerm<kPlace>;
      constexpr float n = k.x + k.y + k.z;
      float first = 0, second = 0;
      if constexpr (k.x > 0) first += x[0] * b[kAt<k.x - 1, k.y, k.z>];
      if constexpr (k.y > 0) first += x[1] * b[kAt<k.x, k.y - 1, k.z>];
      if constexpr (k.z > 0) first += x[2] * b[kAt<k.x, k.y, k.z - 1>];
      if constexpr (k.x > 1) second += b[kAt<k.x - 2, k.y, k.z>];
      if constexpr (k.y > 1) second += b[kAt<k.x, k.y - 2, k.z>];
      if constexpr (k.z > 1) second += b[kAt<k.x, k.y, k.z - 2>];
      b[kPlace] = (2 - 1 / n) * first - (1 - 1 / n) * w * second;
    });
    const float mass = node.squares.w, sixth = unit * unit / 6;
    const float3 q = sixth * xyz(node.squares), p = 2 * sixth * xyz(node.products);
    for_each_term<kTerms>([&]<int kPlace>() {
      constexpr Term k = kTerm<kPlace>;
      of[kPlace] += mass * b[kPlace];
      if constexpr (kQuadrupole && k.x + k.y + k.z + 2 <= kTop) {
        constexpr float x1 = k.x + 1, y1 = k.y + 1, z1 = k.z + 1;
        of[kPlace] += q.x * (x1 * (x1 + 1)) * b[kAt<k.x + 2, k.y, k.z>] +
                      q.y * (y1 * (y1 + 1)) * b[kAt<k.x, k.y + 2, k.z>] +
                      q.z * (z1 * (z1 + 1)) * b[kAt<k.x, k.y, k.z + 2>] +
                      p.x * (x1 * y1) * b[kAt<k.x + 1, k.y + 1, k.z>] +
                      p.y * (x1 * z1) * b[kAt<k.x + 1, k.y, k.z + 1>] +
                      p.z * (y1 * z1) * b[kAt<k.x, k.y + 1, k.z + 1>];
      }
    });
  }

  // Adds up the series of all lanes of a warp.
  __device__ void sum_warp() {
    for_each_term<kTerms>([&]<int kPlace>() {
      for (int apart = 16; apart > 0; apart /= 2)
        of[kPlace] += __shfl_xor_sync(0xffffffff, of[kPlace], apart);
    });
  }

  // Returns the acceleration at the point plus d (L2P), the gradient of the sum.
  __device__ float3 at(float3 d, float unit) const {
    const float x[3] = {unit * d.x, unit * d.y, unit * d.z};
    float power[kTerms];
    power[0] = 1;
    float3 a{};
    for_each_term<kTerms>([&]<int kPlace>() {
      constexpr Term k = kTerm<kPlace>;
      constexpr int kAxis = k.x > 0 ? 0 : k.y > 0 ? 1 : 2;
      constexpr int kBelow = kAt<k.x - (kAxis == 0), k.y - (kAxis == 1), k.z - (kAxis == 2)>;
      power[kPlace] = x[kAxis] * power[kBelow];
      if constexpr (k.x > 0) a.x += k.x * of[kPlace] * power[kAt<k.x - 1, k.y, k.z>];
      if constexpr (k.y > 0) a.y += k.y * of[kPlace] * power[kAt<k.x, k.y - 1, k.z>];
      if constexpr (k.z > 0) a.z += k.z * of[kPlace] * power[kAt<k.x, k.y, k.z - 1>];
    });
    return unit * (unit * a);
  }
};

}  // namespace series
