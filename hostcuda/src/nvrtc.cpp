// All of nvrtc/ in one unit. Only programs that call NVRTC need it.
#include "nvrtc/compiler.cpp"
#include "nvrtc/options.cpp"
#include "nvrtc/program.cpp"
