// The rank of this process, and its connections to the other ranks.
#pragma once

#include <memory>
#include <optional>

#include "cluster/transport.h"
#include "cluster/watchdog.h"

namespace nbody {

struct RankState {
  MPI_Comm comm = MPI_COMM_WORLD;
  std::unique_ptr<Cluster> cluster;
  std::optional<Watchdog> watchdog;
  bool given_up = false;
};
RankState& rank_state();

}  // namespace nbody
