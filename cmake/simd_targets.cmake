# Sets NBODY_SIMD_TARGETS, the instruction sets that tests of Highway's kernels use one by one.
# Without vectors, Highway has either EMU128 or SCALAR, depending on its version and the compiler.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES hwy::hwy)
check_cxx_source_compiles("
  #include <hwy/highway.h>
  #if HWY_BASELINE_SCALAR != HWY_EMU128
  #error
  #endif
  int main() {}" NBODY_HIGHWAY_HAS_EMU128)
unset(CMAKE_REQUIRED_LIBRARIES)
set(NBODY_SIMD_TARGETS SCALAR SSSE3 SSE4 AVX2 AVX3)
if(NBODY_HIGHWAY_HAS_EMU128)
  list(TRANSFORM NBODY_SIMD_TARGETS REPLACE SCALAR EMU128)
endif()
