// The ways for data between devices, and the choice between them.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "nbody/cluster.h"

namespace nbody {

// From pinned host buffers; or, where `device_pointers`, MPI reads and writes device memory itself.
std::unique_ptr<Cluster> mpi_transport(MPI_Comm ranks, bool device_pointers);

// Only where the program was built with NCCL.
std::unique_ptr<Cluster> nccl_transport(MPI_Comm ranks);
bool has_nccl();

// NBODY_TRANSPORT, or "nccl" where the program has it, or "mpi". Throws UsageError where it names
// what this program does not have.
std::string wanted_transport();

// The one that is wanted, on all ranks alike. `backend` is that of Platform. Leaves the choice in
// ranks().
std::unique_ptr<Cluster> choose_transport(MPI_Comm ranks, const std::string& backend);

// A call of MPI outside a collective that can fail: MPI itself ends the program when it does.
int rank_in(MPI_Comm ranks);
int count_of(MPI_Comm ranks);

}  // namespace nbody
