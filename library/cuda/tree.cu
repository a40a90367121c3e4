// Computes forces and potentials with step 15's tree and step 15b's walks. If the targets are not
// the sources, a second tree puts the targets in order.
#include "library/cuda/store.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step15_barnes_hut/tree.h"

#define main static program_of_step  // a function that nobody calls
#include "step15b_force_aware/nbody.cu"
#undef main
#include "library/cuda/potential_walk.h"

namespace {

using nbody::library::Quantity;
using nbody::library::Store;

// Adds `by` to the indices of bodies in the leaves of a tree.
__global__ void shift_leaves(Node* nodes, const int* leaves, const int* leaf_count, int by) {
  const int k = blockIdx.x * kBlockSize + threadIdx.x;
  if (k < *leaf_count) nodes[leaves[k]].left += by;
}

// Walks a tree for the targets, which are the first bodies of `bodies`. The indices in the tree's
// leaves also refer to `bodies`.
template <class Real>
void walk(Quantity quantity, const Tree& tree, const Position* bodies, const int* order, int n,
          const Store<Real>& store, const nbody_options& options, float softening_squared) {
  const int blocks = (n - 1) / kGroup + 1;
  const DeviceArray<float> forces(static_cast<std::size_t>(n));
  const auto tolerance = static_cast<float>(options.force_tolerance);
  const bool quadrupole = options.multipole == 2;
  const auto run = [&](auto kernel, const auto& action) {
    kernel<<<blocks, 32, 0, tree.stream>>>(tree.nodes.get(), tree.root(), bodies, order,
                                           forces.get(), action, n, softening_squared, tolerance);
  };
  run(advance<false, true>, KickAndDrift{});  // the coarse walk moves nothing
  if (quantity == Quantity::potential)
    run(quadrupole ? find_potentials<true, Real> : find_potentials<false, Real>, store);
  else
    run(quadrupole ? advance<true, false, Store<Real>> : advance<false, false, Store<Real>>, store);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

namespace nbody::library {

template <class Real>
void sum_by_tree(Quantity quantity, const Bodies<float>& sources, const Bodies<float>& targets,
                 bool own, const nbody_options& options, float softening_squared,
                 const Output<Real>& out, cudaStream_t stream) {
  const Store<Real> store{targets.order, out};
  Tree tree{sources.n, stream};
  tree.build(sources.positions, static_cast<float>(options.theta));
  if (own)
    return walk(quantity, tree, tree.bodies.get(), tree.order.get(), targets.n, store, options,
                softening_squared);
  Tree other{targets.n, stream};
  other.build(targets.positions, 1);
  // A walk reads the targets and the bodies of leaves from the same array.
  const DeviceArray<Position> bodies(other.size + tree.size);
  const auto copy = [stream](Position* to, const DeviceArray<Position>& from) {
    CUDA_CHECK(cudaMemcpyAsync(to, from.get(), from.bytes(), cudaMemcpyDeviceToDevice, stream));
  };
  copy(bodies.get(), other.bodies);
  copy(bodies.get() + other.size, tree.bodies);
  shift_leaves<<<(sources.n - 1) / kBlockSize + 1, kBlockSize, 0, stream>>>(
      tree.nodes.get(), tree.leaves.get(), tree.leaf_count.get(), targets.n);
  walk(quantity, tree, bodies.get(), other.order.get(), targets.n, store, options,
       softening_squared);
}
template void sum_by_tree(Quantity, const Bodies<float>&, const Bodies<float>&, bool,
                          const nbody_options&, float, const Output<float>&, cudaStream_t);
template void sum_by_tree(Quantity, const Bodies<float>&, const Bodies<float>&, bool,
                          const nbody_options&, float, const Output<double>&, cudaStream_t);

}  // namespace nbody::library
