#include "cub/thread_operators.cuh"
