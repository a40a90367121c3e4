// Takes the place of cuda/ in a build without CUDA.
#include "call.h"

namespace nbody::library {

template <class Real>
int run_on_cuda(const Call<Real>&) {
  return NBODY_NO_DEVICE;
}
template int run_on_cuda(const Call<float>&);
template int run_on_cuda(const Call<double>&);

void release_cuda_memory() {}
void* take_cuda_result(std::size_t) { return nullptr; }
void return_cuda_result(void*) {}
bool wait_for_cuda(void*) { return false; }

}  // namespace nbody::library
