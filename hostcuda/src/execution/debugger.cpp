// Data that gdb reads from a stopped program (../../gdb/hostcuda.py). Even release builds compile
// this file with debug information, so that gdb knows the layout of a block.
#include "execution/block.h"

namespace hostcuda {

__thread BlockRunner* running_block;

}  // namespace hostcuda
