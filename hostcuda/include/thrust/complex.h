// hostcuda: Thrust's complex numbers are the standard library's.
#ifndef HOSTCUDA_THRUST_COMPLEX_H
#define HOSTCUDA_THRUST_COMPLEX_H

#include <complex>

namespace thrust {
using std::abs;
using std::arg;
using std::complex;
using std::conj;
using std::exp;
using std::norm;
using std::polar;
}  // namespace thrust

#endif
