#include "cub/iterator/input_iterators.cuh"
