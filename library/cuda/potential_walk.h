// The walk of step 15b, here for potentials instead of forces. Both walks open the same nodes.
// Include this header after the step's file and store.h.
#pragma once

namespace {

// Returns what a source adds to the potential at a body.
__device__ float potential(Position source, Position body, float softening_squared) {
  const float3 d = xyz(source) - xyz(body);
  return -source.w * rsqrtf(dot(d, d, softening_squared));
}

// Returns what a node adds to the potential at a body. The negative gradient of this function is
// the step's attraction(). In the same notation:
//   phi = -(m + w / 2 (e.Qe - tr Q / 3)) / s.
__device__ float potential(Position centre, float4 squares, float4 products, Position body,
                           float softening_squared) {
  const float3 d = xyz(centre) - xyz(body);
  const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
  const float w = inverse_distance * inverse_distance;
  const float3 e = inverse_distance * d;
  const float3 q{dot(e, {squares.x, products.x, products.y}),
                 dot(e, {products.x, squares.y, products.z}),
                 dot(e, {products.y, products.z, squares.z})};
  return -inverse_distance * (centre.w + w * (0.5f * dot(e, q) + products.w / 3));
}

// Works like advance() after the coarse walk, with one lane per sorted body. A body does not act on
// itself.
template <bool kQuadrupole, class Real>
__global__ void __launch_bounds__(32)
    find_potentials(const Node* __restrict__ nodes, int root, const Position* __restrict__ bodies,
                    const int* __restrict__ order, const float* __restrict__ forces,
                    nbody::library::Store<Real> store, int n, float softening_squared,
                    float tolerance) {
  __shared__ int stack[kStack];
  __shared__ float4 tile[3][32];
  const int lane = threadIdx.x, i = blockIdx.x * kGroup + lane;
  const unsigned lanes_before = (1u << lane) - 1;
  const Position body = bodies[min(i, n - 1)];
  const Box box = box_of_warp(xyz(body));
  const float3 width = 1 / kWide * (box.high - box.low);
  const Box range = box_of_warp({forces[min(i, n - 1)], 0, 0});
  const float bound = tolerance * fmaxf(range.low.x, kCancelled * range.high.x);
  constexpr auto kActs = acts_as_a_whole<kQuadrupole, false>;

  float total = 0;
  int size = 1;  // number of nodes on the stack
  if (lane == 0) stack[0] = root;
  __syncwarp();
  while (size > 0) {
    const int taken = min(min(size, 32), max(kStack - kDepth - size, 1));
    size -= taken;
    const int number = stack[size + min(lane, taken - 1)];
    const Node& node = nodes[number];
    const int left = node.left, right = node.right;
    bool accepted = lane < taken && kActs(node, box, bound);
    const bool doubtful = lane < taken && !accepted && node.centre.w < dot(width, width);
    for (unsigned asked = __ballot_sync(kAllLanes, doubtful); asked != 0; asked &= asked - 1) {
      const int holder = __ffs(asked) - 1;
      const Node& other = nodes[__shfl_sync(kAllLanes, number, holder)];
      accepted |= __all_sync(kAllLanes, kActs(other, BoxOf()(body), bound)) && lane == holder;
    }
    const bool refused = lane < taken && !accepted;
    const unsigned whole = __ballot_sync(kAllLanes, accepted);
    const unsigned opened = __ballot_sync(kAllLanes, refused && right >= 0);
    unsigned leaves = __ballot_sync(kAllLanes, refused && right < 0);
    __syncwarp();  // all lanes read the stack and the tile before any lane writes
    if (refused && right >= 0) {
      int* const children = stack + size + 2 * __popc(opened & lanes_before);
      children[0] = left;
      children[1] = right;
    }
    size += 2 * __popc(opened);
    if (accepted) {
      const int place = __popc(whole & lanes_before);
      const float4 c = node.centre, s = node.squares, p = node.products;
      tile[0][place] = {c.x, c.y, c.z, s.w};
      tile[1][place] = s;
      tile[2][place] = {p.x, p.y, p.z, -0.5f * (s.x + s.y + s.z)};
    }
    __syncwarp();  // all lanes have written before any lane reads
    float partial = 0;
    for (int j = 0; j < __popc(whole); ++j)
      partial += kQuadrupole
                     ? potential(tile[0][j], tile[1][j], tile[2][j], body, softening_squared)
                     : potential(tile[0][j], body, softening_squared);
    for (; leaves != 0; leaves &= leaves - 1) {
      const int holder = __ffs(leaves) - 1;
      const int first = __shfl_sync(kAllLanes, left, holder);
      const int count = -__shfl_sync(kAllLanes, right, holder);
      __syncwarp();  // all lanes are done with the old tile
      if (lane < count) tile[0][lane] = bodies[first + lane];
      __syncwarp();
      for (int j = 0; j < count; ++j)
        if (first + j != i) partial += potential(tile[0][j], body, softening_squared);
    }
    total += partial;  // adding partial sums loses fewer digits
  }
  if (i < n) store.potential(order[i], total);
}

}  // namespace
