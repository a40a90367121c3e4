// Data that gdb reads from a stopped program: see ../../gdb/hostcuda.py. This file is compiled with
// debug information, in release builds too, so that gdb knows the layout of a block.
#include "execution/block.h"

namespace hostcuda {

__thread BlockRunner* running_block;

}  // namespace hostcuda
