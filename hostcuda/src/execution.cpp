// All of execution/ in one unit, except debugger.cpp, which has its own options. Includes api.cpp:
// inside the calls of runtime/, g++ warns about an address that it keeps until they end.
#include "execution/block.cpp"
#include "execution/fiber.cpp"
#include "execution/gang.cpp"
#include "execution/grid.cpp"
#include "execution/launch.cpp"
#include "execution/report.cpp"
#include "execution/shared_memory.cpp"
#include "execution/warp.cpp"
#include "execution/watchdog.cpp"
#include "runtime/api.cpp"
