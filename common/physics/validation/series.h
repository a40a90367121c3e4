// Checks the Taylor series of a step that expands the fields of distant bodies (--order).
//
// The error of a series' highest order is smaller than the error that a tree may have, so the other
// checks miss it. This check uses systems in which a series' own error is known. The source, half
// of which is at either of two points near each other, acts on massless bodies at two points, h and
// -h. A group with bodies at both expands the field around the middle between them, whatever the
// size of the group. A group at one point has the exact field, like a direct sum. So each
// acceleration is, to rounding, one of two vectors, and an error in any coefficient shows, also in
// one that multiplies a quadrupole.
//
// Let x lead from the source to the middle. The acceleration at x + d is
//   a = -m / s^3 (x + d) sum_n k_n,  s^2 = x^2 + eps^2,
// where k_n has order n in d: k_0 = 1, and with q = -x d / s^2
//   n k_n = (2 n + 1) q k_(n - 1) - (n + 1) d^2 / s^2 k_(n - 2).
// For |x + d|^2 + eps^2 = s^2 (1 - 2 q + d^2 / s^2), and the powers of (1 - 2 c t + t^2)^(-3/2) in
// t have Gegenbauer's polynomials of index 3/2 in c as coefficients (NIST Digital Library of
// Mathematical Functions, 18.9.1 and 18.12.4).
#pragma once

#include "physics/check.h"
#include "physics/validation.h"
#include "physics/vector3.h"

namespace nbody {

// Returns the acceleration at x + d by a mass at the origin, expanded around x up to `order` in d.
// x, d and the softening have the same unit of length; G = 1.
Vector3 acceleration_by_series(double mass, const Vector3& x, const Vector3& d,
                               double softening_squared, int order);

// Returns the check `series`: the largest error of an acceleration, relative to the acceleration.
// Calls `advance`, the step with by_series(approximation), for groups of 32 bodies, and again for
// groups of up to 256 if the step's largest groups have more than 32. The approximation must have
// an order. If no body's acceleration in a system came from a series, the check's `open` says so.
Check series_check(const Approximation& approximation, double softening_squared,
                   const Advance<float>& advance, int largest_group = 256);

}  // namespace nbody
