# nbody_inspectable(name source [LIBRARIES cublas] [COMMON nbody_cluster])
#
# inspect_NAME is the program of a .cu file with its memory accesses traced (hostcuda/trace), for
# `./nbody inspect`. It is built only on request, and only if hostcuda can trace with this compiler.
# count_NAME is the same program with its operations counted (hostcuda/count), if clang++ is
# installed. inspectable_NAME builds both.

function(nbody_inspectable name source)
  if(NBODY_CUDA)
    return()
  endif()
  hostcuda_can_trace(can_trace)
  if(NOT can_trace)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 inspect "" "" "LIBRARIES;COMMON")
  add_executable(inspect_${name} EXCLUDE_FROM_ALL ${source})
  set_property(GLOBAL APPEND PROPERTY NBODY_INSPECTABLE inspect_${name})
  hostcuda_traced_target(inspect_${name})
  target_compile_options(inspect_${name} PRIVATE ${NBODY_HOSTCUDA_FLAGS})
  set(targets inspect_${name})
  hostcuda_can_count(can_count)
  if(can_count)
    add_executable(count_${name} EXCLUDE_FROM_ALL ${source})
    hostcuda_counted_target(count_${name})
    list(APPEND targets count_${name})
  endif()
  add_custom_target(inspectable_${name} DEPENDS ${targets})
  foreach(target IN LISTS targets)
    target_link_libraries(${target} PRIVATE ${inspect_COMMON} nbody_program nbody_warnings)
    foreach(library IN LISTS inspect_LIBRARIES)
      target_link_libraries(${target} PRIVATE hostcuda_${library})
    endforeach()
  endforeach()
endfunction()

