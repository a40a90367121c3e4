#include "cluster/transport.h"

#include <cstdlib>

#include "nbody/error.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace nbody {
namespace {

// Asks the MPI library at run time, because the installed MPI library may differ from the one that
// the program was built with.
bool mpi_takes_device_pointers() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

}  // namespace

int rank_in(MPI_Comm ranks) {
  int rank = 0;
  MPI_Comm_rank(ranks, &rank);
  return rank;
}

int count_of(MPI_Comm ranks) {
  int count = 0;
  MPI_Comm_size(ranks, &count);
  return count;
}

std::string wanted_transport() {
  const char* const asked = std::getenv("NBODY_TRANSPORT");
  std::string way = asked != nullptr ? asked : has_nccl() ? "nccl" : "mpi";
  if (way == "mpi" || (way == "nccl" && has_nccl())) return way;
  refuse("NBODY_TRANSPORT", way,
         has_nccl() ? "nccl or mpi" : "mpi, as this program was built without NCCL");
}

std::unique_ptr<Cluster> choose_transport(MPI_Comm comm, const std::string& backend) {
  if (wanted_transport() == "nccl") {
    ranks().transport = "nccl";
    return nccl_transport(comm);
  }
  const bool device_pointers = backend == "cuda" && mpi_takes_device_pointers();
  ranks().transport = device_pointers ? "mpi, device memory" : "mpi, host memory";
  return mpi_transport(comm, device_pointers);
}

}  // namespace nbody
