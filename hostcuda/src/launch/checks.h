// Checks of a launch, which are the same in host code and in kernels.
#ifndef HOSTCUDA_SRC_LAUNCH_CHECKS_H
#define HOSTCUDA_SRC_LAUNCH_CHECKS_H

#include <cstddef>
#include <memory>
#include <string>

#include "hostcuda/launch.h"

namespace hostcuda {

// Checks the grid, the block, the shared memory and the clusters. If there is an error, says in
// `reason` which limit the launch exceeds.
cudaError_t check_launch(const LaunchRequest& request, std::string& reason);

// Returns the number of bytes of shared memory that a block of the kernel may have.
std::size_t dynamic_shared_limit(const void* function);

// A launch by a kernel.
cudaError_t launch_from_kernel(const LaunchRequest& request, std::shared_ptr<const Work> body);
// Reports a kernel that passes the address of its own local or shared variable to a kernel.
void check_pointer_in_kernel(const Site& site, const volatile void* pointer);

}  // namespace hostcuda

#endif
