// __constant__ and __device__ variables: one address, one content per device.
#ifndef HOSTCUDA_SRC_RUNTIME_SYMBOL_H
#define HOSTCUDA_SRC_RUNTIME_SYMBOL_H

#include <cstddef>

namespace hostcuda {

// A symbol is an ordinary variable of the program. It holds the content of one device at a time;
// the contents for the other devices are kept aside and swapped in before one of their kernels
// runs. A symbol is known from its first copy on: a __device__ variable that only kernels use is
// shared by all devices.
void bring_in_symbols(int device);

// The bytes from the pointer to the end of the symbol that it is in; 0: it is in none that is
// known.
std::size_t bytes_of_symbol_at(const void* pointer);

// Whether the address is in a symbol that host code set for other devices, and not for this one.
bool was_set_elsewhere_only(const void* address, int device);

}  // namespace hostcuda

#endif
