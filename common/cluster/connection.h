// A TCP connection between every rank and the root, beside MPI.
#pragma once

#include <mpi.h>

#include <vector>

namespace nbody {

struct Connection {
  int rank;  // at the other end
  int socket;
};

// Called by all ranks. For the root one connection to each other rank, in their order; for another
// rank the one to the root. Throws runtime_error.
std::vector<Connection> connect_to_root(MPI_Comm ranks);

}  // namespace nbody
