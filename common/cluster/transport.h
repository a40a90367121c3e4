// The ways to move data between devices, and the choice between them.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "nbody/cluster.h"

namespace nbody {

// Sends through pinned host buffers or, with `device_pointers`, directly from device memory.
std::unique_ptr<Cluster> mpi_transport(MPI_Comm ranks, bool device_pointers);

// Call nccl_transport() only if has_nccl() is true, that is, if the program was built with NCCL.
std::unique_ptr<Cluster> nccl_transport(MPI_Comm ranks);
bool has_nccl();

// Returns the value of NBODY_TRANSPORT. If the variable is unset, returns "nccl" if the program was
// built with NCCL, otherwise "mpi". Throws UsageError if the program lacks the requested transport.
std::string wanted_transport();

// Returns the wanted transport, which is the same on all ranks, and stores the choice in ranks().
// `backend` is Platform::backend.
std::unique_ptr<Cluster> choose_transport(MPI_Comm ranks, const std::string& backend);

// These functions report no errors, because MPI ends the program if an MPI call fails.
int rank_in(MPI_Comm ranks);
int count_of(MPI_Comm ranks);

}  // namespace nbody
