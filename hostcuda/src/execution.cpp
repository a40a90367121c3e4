// All of execution/ and launch/ in one unit, except debugger.cpp, which has its own options. This
// unit is compiled for each library, and so is sanitizer.cpp, which tells them apart.
//
// api.cpp is here too, because g++ would warn about a pointer to a local variable if it inlined
// functions of api.cpp into runtime/.
#include "execution/async_copies.cpp"
#include "execution/block.cpp"
#include "execution/fiber.cpp"
#include "execution/gang.cpp"
#include "execution/grid.cpp"
#include "execution/kernel_functions.cpp"
#include "execution/report.cpp"
#include "execution/shared_memory.cpp"
#include "execution/warp.cpp"
#include "execution/watchdog.cpp"
#include "launch/children.cpp"
#include "launch/function_name.cpp"
#include "launch/kernel_calls.cpp"
#include "launch/launch.cpp"
#include "launch/printing.cpp"
#include "runtime/api.cpp"
#include "support/sanitizer.cpp"
