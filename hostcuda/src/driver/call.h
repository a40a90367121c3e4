// The first statement of every function of the driver API, which is implemented over the runtime
// API. The runtime's errors, traces and checks therefore apply to the driver API too.
#ifndef HOSTCUDA_SRC_DRIVER_CALL_H
#define HOSTCUDA_SRC_DRIVER_CALL_H

#include "cuda.h"
#include "runtime/api.h"

namespace hostcuda {

// Takes the API's lock and keeps the runtime API's last error.
class DriverCall {
 public:
  DriverCall(const char* function, const CodePlace& place) : call_(function, place) {}

 private:
  ApiCall call_;
  DriverScope scope_;
};

// True after cuInit, or after any call of the runtime API, which initialises the driver itself.
bool driver_is_initialised();

CUresult result_of(cudaError_t error);

// Prints a one-line message about a mistake that an error code alone does not explain.
void explain(const char* function, const std::string& sentence);

inline void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

// Stores a pointer that an allocation returned, if there was no error.
inline CUresult store(CUdeviceptr* address, const void* pointer, cudaError_t error) {
  if (error == cudaSuccess) *address = address_of(pointer);
  return result_of(error);
}

}  // namespace hostcuda

#define HOSTCUDA_DRIVER_CALL                                                         \
  const ::hostcuda::DriverCall driver_call(__func__, {__builtin_return_address(0)}); \
  if (!::hostcuda::driver_is_initialised()) return CUDA_ERROR_NOT_INITIALIZED

#endif
