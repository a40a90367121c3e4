// The reference for a step with a tree: a tree of the same design (nbody/step.h), in float64. A
// correct tree of this design differs from the reference only by rounding, whatever the shape of
// the system. The error relative to direct sums, in contrast, varies by a factor of a hundred from
// one shape to another.
//
//   J. E. Barnes, J. Comput. Phys. 87, 161 (1990): a list of nodes for a group of bodies
//   T. Karras, High Performance Graphics 2012: a binary tree over keys along a curve
#pragma once

#include <span>
#include <vector>

#include "nbody/bodies.h"
#include "nbody/step.h"
#include "physics/vector3.h"
#include "physics/wide.h"

namespace nbody {

class TreeReference {
 public:
  TreeReference(std::span<const Body> bodies, TreeDesign design, float theta);

  struct Force {
    Vector3 acceleration;
    // The deviation that a correct float32 program may have, because it rounds the centres of nodes
    // and may open a node that the reference just accepts, or accept one that the reference opens.
    double allowance = 0;
    double lost = 0;  // a further deviation, because numbers are too small for float32
  };
  Force force(int body, int multipole, double softening_squared) const;

 private:
  struct Node {
    Vector3 centre;  // centre of mass
    double mass = 0, radius = 0;
    double opening_squared = 0;  // at a larger distance the node acts as one body
    double blur = 0;             // relative error that opening_squared may have
    double m[6] = {};           // sum of m x x, m y y, m z z, m x y, m x z, m y z around the centre
    int first = 0, count = 0;   // range of sorted bodies
    int left = -1, right = -1;  // children
  };
  struct Group {
    Vector3 low, high;
    int first, end;
  };
  struct Choice {
    bool accepted, at_the_edge;
  };

  int build(int first, int count);
  void sum(Node& node, std::span<const Node> parts) const;
  Choice choose(const Node& node, const Group& group) const;
  void add(const Node& node, const Group& group, const Vector3& at, int multipole,
           double softening_squared, Force& force) const;
  Force opened(const Node& node, const Group& group, const Vector3& at, int multipole,
               double softening_squared) const;

  TreeDesign design_;
  double theta_;
  std::vector<unsigned long long> keys_;  // keys of the bodies, sorted
  std::vector<Node> nodes_;               // the last is the root
  std::vector<Vector3> positions_;        // positions in the order of the keys
  std::vector<double> masses_;
  std::vector<int> place_;  // place_[i]: where body i is in the sorted order
};

}  // namespace nbody
