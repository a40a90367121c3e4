// Stands in for OpenGL, which the kernels of the CUDA sample do not need: there is nothing in it.
#pragma once
