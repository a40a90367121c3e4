// Devices and the lock that every API call holds.
#ifndef HOSTCUDA_SRC_DEVICE_H
#define HOSTCUDA_SRC_DEVICE_H

#include <cstddef>
#include <mutex>
#include <set>
#include <vector>

#include "cuda_runtime.h"
#include "stream.h"

namespace hostcuda {

struct Device {
  CUstream_st default_stream;
  // Created and not destroyed, the oldest first: an order by address would differ between runs.
  std::vector<CUstream_st*> streams;
  std::vector<OperationPointer> orphans;  // last operations of destroyed streams
  std::set<int> peers;                    // whose memory kernels here may touch
  std::size_t used = 0;                   // bytes allocated
};

std::vector<Device>& devices();

// The calling host thread's device. Valid when has_device().
int current_device();
bool valid_device(int device);

// One lock for everything. An operation runs while the lock is held by the host thread that makes
// it run; recursive, because an operation may be a host function. One grid at a time is not only
// simpler: __constant__ variables have a single address, and its content must be that of the device
// whose kernel runs.
std::recursive_mutex& api_mutex();

// The error that the environment asks of this API call, which is counted: cudaErrorUnknown for one
// call, cudaErrorDevicesUnavailable for all calls since the devices were lost. The launch of a
// kernel is a call too; asking for the last error is none.
cudaError_t planned_error();

// What each API function starts with: takes the lock, and knows whether the call can be made.
class ApiCall {
 public:
  ApiCall() : lock_(api_mutex()) {}
  cudaError_t error() const { return devices().empty() ? cudaErrorNoDevice : planned_error(); }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

// Records an error as the host thread's last one and hands it back: `return fail(...)`.
cudaError_t fail(cudaError_t error);

// Waits for all streams of a device.
void synchronize_device(int device);

}  // namespace hostcuda

#define HOSTCUDA_API_CALL             \
  const ::hostcuda::ApiCall api_call; \
  if (const cudaError_t api_error = api_call.error()) return ::hostcuda::fail(api_error)

#endif
