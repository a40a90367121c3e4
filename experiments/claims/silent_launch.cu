// Project report, 4.3: a block with too much shared memory crashes silently, so the report uses at
// most 16,384 bytes. In fact the launch fails, so the kernel never runs, and the program continues
// with the old contents of memory. cudaGetLastError() returns the reason.
#include "claim.h"

namespace {

__global__ void mark(int* ran) {
  extern __shared__ float tile[];
  if (threadIdx.x == 0) {
    tile[0] = 1;
    *ran = 1;
  }
}

// Returns true if the kernel ran. As in the report, nothing is checked between launch and copy.
bool ran_unchecked(int bytes) {
  const claim::OnDevice<int> ran(std::vector<int>{0});
  mark<<<1, 32, bytes>>>(ran.get());
  return ran.host()[0] == 1;
}

bool report(int bytes, bool expected) {
  const bool ran = ran_unchecked(bytes);
  const cudaError_t error = cudaGetLastError();
  claim::Line line("silent_launch");
  line.add("bytes", bytes);
  line.add("ran", ran ? 1 : 0);
  line.add("error", std::string(cudaGetErrorName(error)));
  return line.print(ran == expected && (error == cudaSuccess) == expected) == 0;
}

int attribute(cudaDeviceAttr name) {
  int value = 0;
  CHECKED(cudaDeviceGetAttribute(&value, name, 0));
  return value;
}

}  // namespace

int main() {
  const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  const int on_request = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  bool right = report(16384, true) & report(most, true) & report(most + 16, false);
  right &= report(on_request, on_request == most);
  CHECKED(cudaFuncSetAttribute(mark, cudaFuncAttributeMaxDynamicSharedMemorySize, on_request));
  right &= report(on_request, true) & report(on_request + 16, false);
  return right ? 0 : 1;
}
