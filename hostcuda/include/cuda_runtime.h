// hostcuda: the CUDA runtime API and dialect for a plain host C++20 compiler.
//
// The same .cu files are compiled by nvcc against NVIDIA's header of this name and, through
// launcher/hostcudacc.py, by g++ or clang++ against this one. See README.md for what a run proves.
#pragma once

// CUDA's own header includes these.
#include <assert.h>
#include <stdio.h>

#include <new>

// clang-format off: types first, everything else builds on them.
#include "hostcuda/device_functions.h"
#include "hostcuda/graph_api.h"
#include "hostcuda/intrinsics.h"
#include "hostcuda/launch.h"
#include "hostcuda/launch_functions.h"
#include "hostcuda/math.h"
#include "hostcuda/runtime_api.h"
#include "hostcuda/texture.h"
#include "hostcuda/types.h"
// clang-format on
