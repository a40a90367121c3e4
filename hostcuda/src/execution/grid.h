// Runs all blocks of a grid, spread over the CPU's cores.
#ifndef HOSTCUDA_SRC_EXECUTION_GRID_H
#define HOSTCUDA_SRC_EXECUTION_GRID_H

#include "execution/block_state.h"

namespace hostcuda {

// Returns when the grid is done. The API lock is held: no two grids run at the same time.
void run_grid(const Launch& launch);

}  // namespace hostcuda

#endif
