# nbody_variant(name STEP step [FIND text... REPLACE text...] [INCLUDE header]
#               [CUDA_FLAGS flag...] [DEFINITIONS definition...] [LIBRARIES cublas])
#
# The step under another name, with edits made and one header included, or with other flags and
# definitions. No flags are taken over from the step.
include(edited_source)

function(nbody_variant name)
  cmake_parse_arguments(PARSE_ARGV 1 variant "" "STEP;INCLUDE"
    "FIND;REPLACE;CUDA_FLAGS;DEFINITIONS;LIBRARIES")
  if(NOT variant_FIND)
    set(variant_FIND "// ${variant_STEP} --")
    set(variant_REPLACE "// ${name}, a variant of ${variant_STEP} --")
  endif()
  edited_source(source STEP ${variant_STEP} NAME ${name} FIND ${variant_FIND}
    REPLACE ${variant_REPLACE})
  if(NOT NBODY_CUDA OR NOT NBODY_VARIANTS)
    return()
  endif()
  set(flags -O3 -lineinfo ${variant_CUDA_FLAGS})
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
    CUDA_RUNTIME_LIBRARY Static RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name})
  target_link_libraries(${name} PRIVATE nbody_program CUDA::cudart_static)
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  foreach(library IN LISTS variant_LIBRARIES)
    target_link_libraries(${name} PRIVATE CUDA::${library})
  endforeach()
  if(variant_INCLUDE)
    target_compile_options(${name} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:-include=${CMAKE_CURRENT_SOURCE_DIR}/${variant_INCLUDE}>)
  endif()
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${flags}>)
  list(JOIN flags " " flags_text)
  list(JOIN variant_DEFINITIONS " -D" definitions_text)
  target_compile_definitions(${name} PRIVATE ${variant_DEFINITIONS}
    NBODY_FLAGS="${flags_text} ${definitions_text}")
endfunction()
