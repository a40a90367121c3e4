// hostcuda: the CUDA runtime API and dialect for a plain host C++20 compiler.
//
// nvcc compiles the same .cu files against NVIDIA's header of this name; g++ or clang++, started by
// launcher/hostcudacc.py, compiles them against this header. README.md says what a run proves.
#pragma once

// CUDA's own header includes these headers.
#include <assert.h>
#include <limits.h>
#include <stdio.h>

#include <new>

// clang-format off: the types come first because the other headers need them.
#include "hostcuda/device_functions.h"
#include "hostcuda/device_runtime/streams.h"
#include "hostcuda/graph_api.h"
#include "hostcuda/graphs/node_api.h"
#include "hostcuda/interprocess/ipc_api.h"
#include "hostcuda/intrinsics.h"
#include "hostcuda/launch.h"
#include "hostcuda/launch_functions.h"
#include "hostcuda/math.h"
#include "hostcuda/occupancy_api.h"
#include "hostcuda/pool_api.h"
#include "hostcuda/runtime_api.h"
#include "hostcuda/texture.h"
#include "hostcuda/textures/layers.h"
#include "hostcuda/types.h"
// clang-format on
