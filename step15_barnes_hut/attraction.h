// The acceleration that a body or a node exerts on a body.
#pragma once

#include "nbody/cuda.h"
#include "nbody/float3.h"

namespace gravity {
using namespace nbody;

// Returns a source's share of the acceleration of a body, as in step 11.
__device__ inline float3 attraction(float4 source, float4 body, float softening_squared) {
  const float3 d = xyz(source) - xyz(body);
  const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
  return source.w * inverse_distance * (inverse_distance * inverse_distance) * d;
}

// Returns a node's share. Its mass is m, its quadrupole Q = 3 sum m_k u_k u_k^T, where u_k leads
// from its centre to a body. With d to the centre, s^2 = d^2 + eps^2, e = d / s and w = 1 / s^2,
//   a = w ((m + w (5/2 e.Qe - tr Q / 2)) e - w Qe),
// the first terms of a Taylor series of the softened force; w^2 would overflow where w Q is small.
// `products` has -tr Q / 2 as w.
__device__ inline float3 attraction(float4 centre, float4 squares, float4 products, float4 body,
                                    float softening_squared) {
  const float3 d = xyz(centre) - xyz(body);
  const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
  const float w = inverse_distance * inverse_distance;
  const float3 e = inverse_distance * d;
  const float3 q{dot(e, {squares.x, products.x, products.y}),
                 dot(e, {products.x, squares.y, products.z}),
                 dot(e, {products.y, products.z, squares.z})};
  return w * ((centre.w + w * (2.5f * dot(e, q) + products.w)) * e - w * q);
}

}  // namespace gravity
