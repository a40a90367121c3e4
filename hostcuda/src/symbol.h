// __constant__ and __device__ variables: one address, a content per device.
#ifndef HOSTCUDA_SRC_SYMBOL_H
#define HOSTCUDA_SRC_SYMBOL_H

namespace hostcuda {

// A symbol is an ordinary variable in the program. Its content is that of one device at a time; the
// others' contents are kept aside and swapped in before a kernel of theirs runs. A symbol is known
// from its first copy on: a __device__ variable that only kernels use is shared by all devices.
void bring_in_symbols(int device);

}  // namespace hostcuda

#endif
