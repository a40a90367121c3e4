# Sets NBODY_SIMD_TARGETS, the instruction sets that tests of Highway's kernels use one by one.
# Without vectors, Highway has one of two targets, and g++ before 12.3 cannot compile EMU128.
set(NBODY_SIMD_TARGETS EMU128 SSSE3 SSE4 AVX2 AVX3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12.3)
  list(TRANSFORM NBODY_SIMD_TARGETS REPLACE EMU128 SCALAR)
endif()
