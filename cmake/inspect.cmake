# nbody_inspectable(name source [LIBRARIES cublas])
#
# inspect_NAME: the program of a .cu file with its memory accesses traced (hostcuda/trace), for
# `./nbody inspect`. Built only when it is asked for. Needs g++: the instrumentation of clang sees
# other accesses, and was not compared with a GPU.
#
# Optimised, because nvcc too keeps in registers what it can; but one access of the source stays one.
set(NBODY_TRACE_FLAGS -O2 -g1 -fsanitize=thread -fno-tree-vectorize -fno-tree-slp-vectorize
    -fno-optimize-sibling-calls)

function(nbody_inspectable name source)
  if(NBODY_CUDA OR NBODY_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 inspect "" "" "LIBRARIES")
  set(target inspect_${name})
  add_executable(${target} EXCLUDE_FROM_ALL ${source})
  hostcuda_target(${target})
  # -fsanitize=thread is not for the linker: hostcuda_trace stands in for ThreadSanitizer's library.
  target_compile_options(${target} PRIVATE ${NBODY_TRACE_FLAGS})
  target_compile_definitions(${target} PRIVATE HOSTCUDA_TRACE=1)
  target_link_libraries(${target} PRIVATE nbody_program nbody_warnings hostcuda_trace)
  foreach(library IN LISTS inspect_LIBRARIES)
    target_link_libraries(${target} PRIVATE hostcuda_${library})
  endforeach()
endfunction()
