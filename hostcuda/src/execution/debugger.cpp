// What gdb reads of a program that it has stopped: see ../../gdb/hostcuda.py. This file is compiled
// with debug information, in release builds too, so that gdb knows what a block is made of.
#include "execution/block.h"

namespace hostcuda {

__thread BlockRunner* running_block;

}  // namespace hostcuda
