// __constant__ and __device__ variables: one address for all devices, but separate contents.
#ifndef HOSTCUDA_SRC_RUNTIME_SYMBOL_H
#define HOSTCUDA_SRC_RUNTIME_SYMBOL_H

#include <cstddef>
#include <utility>

#include "runtime/memory.h"
#include "runtime/stream.h"

namespace hostcuda {

// Brings in the contents of all symbols of a device. A symbol is an ordinary variable of the
// program, which holds the content of one device at a time. The contents of the other devices are
// stored elsewhere, and before a kernel runs on a device, that device's contents are swapped in.
// hostcuda knows a symbol only after host code has first copied to or from it or has queried its
// address, so all devices share a __device__ variable that only kernels use.
void bring_in_symbols(int device);

// Appends work that may access all device memory and the symbols of the stream's device.
template <class Work>
OperationPointer enqueue_transfer(CUstream_st& stream, Work work, cudaGraphNodeType type) {
  const auto transfer = [device = stream.device, work = std::move(work)] {
    const DeviceMemoryAccess access;
    bring_in_symbols(device);
    work();
  };
  return enqueue(stream, transfer, type);
}

// Returns the number of bytes from the pointer to the end of the symbol that contains it, or 0 if
// the pointer is in no known symbol.
std::size_t bytes_of_symbol_at(const void* pointer);

// All __device__ variables lie between these two addresses, perhaps together with other variables.
inline const char *device_variables_begin = nullptr, *device_variables_end = nullptr;
inline bool in_device_variables(const void* address) {
  return address >= device_variables_begin && address < device_variables_end;
}

// The __device__ variable that contains the address; `name` is null if none does.
struct DeviceVariableRange {
  const char* begin = nullptr;
  std::size_t size = 0;
  const char* name = nullptr;
  bool is_unset = false;  // a constant without an initialiser, which host code must set
};
DeviceVariableRange device_variable_at(const void* address);
// Returns the variable with this name between the two addresses, which belong to a module.
DeviceVariableRange device_variable_named(const char* name, const char* begin, const char* end);

// True if host code has set, or may have set, all `size` bytes of a variable from `address` on.
bool host_has_set(const void* address, std::size_t size);
// Returns the number of bytes that host code has set in the variable at this address.
std::size_t bytes_set_by_host(const void* variable);

// Returns the name of the variable at this address if host code has never queried its device
// address.
const char* variable_without_address(const void* address);

// True if host code has set the symbol at this address for other devices, but not for this one.
bool was_set_elsewhere_only(const void* address, int device);

}  // namespace hostcuda

#endif
