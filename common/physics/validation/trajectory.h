// The positions at the end of a run against those of the reference.
#pragma once

#include <vector>

#include "nbody/bodies.h"
#include "physics/gate.h"

namespace nbody {

template <class Real>
struct ValidationInput;

// Of the systems named. `force_limit` is what the step's forces may err by, relative.
template <class Real>
Gate trajectory_gate(const ValidationInput<Real>& input, const std::vector<int>& systems,
                     double force_limit);

}  // namespace nbody
