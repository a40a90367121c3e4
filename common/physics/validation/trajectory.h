// Compares the positions at the end of a run with the reference's positions.
#pragma once

#include <vector>

#include "nbody/bodies.h"
#include "physics/check.h"

namespace nbody {

template <class Real>
struct ValidationInput;

// Checks the given systems. `force_limit` is the relative error that the step's forces may have.
template <class Real>
Check trajectory_check(const ValidationInput<Real>& input, const std::vector<int>& systems,
                       double force_limit);

}  // namespace nbody
