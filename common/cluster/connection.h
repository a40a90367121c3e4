// A TCP connection between every rank and the root, separate from MPI.
#pragma once

#include <mpi.h>

#include <vector>

namespace nbody {

struct Connection {
  int rank;  // rank at the other end
  int socket;
};

// Called by all ranks. Returns, on the root, one connection per other rank, in rank order; on the
// other ranks, the connection to the root. Throws runtime_error.
std::vector<Connection> connect_to_root(MPI_Comm ranks);

}  // namespace nbody
