// An empty replacement for OpenGL, which the kernels of the CUDA sample do not need.
#pragma once
