# nbody_variant(name STEP step [FIND text... REPLACE text...] [INCLUDE header]
#               [CUDA_FLAGS flag...] [DEFINITIONS definition...] [LIBRARIES cublas]
#               [TESTS filter] [FORCE_ERROR bodies limit])
#
# Builds the step under another name, with edits and one included header, or with other flags and
# definitions. The step's own flags are not inherited. Variants whose results differ from the step's
# have tests, which run through hostcuda too: TESTS selects which of the tests common to all steps
# the variant must pass, and FORCE_ERROR limits the 99th percentile of its force errors.
include(edited_source)

function(nbody_variant name)
  cmake_parse_arguments(PARSE_ARGV 1 variant "" "STEP;INCLUDE;TESTS"
    "FIND;REPLACE;CUDA_FLAGS;DEFINITIONS;LIBRARIES;FORCE_ERROR")
  if(NOT variant_FIND)
    cmake_path(GET variant_STEP FILENAME step)
    set(variant_FIND "// ${step} --")
    set(variant_REPLACE "// ${name}, a variant of ${step} --")
  endif()
  edited_source(source STEP ${variant_STEP} NAME ${name} FIND ${variant_FIND}
    REPLACE ${variant_REPLACE})
  if(NBODY_CUDA)
    set(wanted ${NBODY_VARIANTS})
  elseif(NBODY_EXPERIMENTS AND BUILD_TESTING AND (variant_TESTS OR variant_FORCE_ERROR))
    set(wanted ON)
  endif()
  if(NOT wanted)
    return()
  endif()
  list(JOIN variant_DEFINITIONS " -D" definitions_text)
  nbody_object(${name}_object ${source} " ${definitions_text}" CUDA_FLAGS ${variant_CUDA_FLAGS}
    LIBRARIES ${variant_LIBRARIES})
  target_compile_definitions(${name}_object PRIVATE ${variant_DEFINITIONS})
  if(variant_INCLUDE)
    # The file is included by its name without a path, because the path may contain blanks.
    target_include_directories(${name}_object PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_options(${name}_object PRIVATE
      $<IF:$<COMPILE_LANGUAGE:CUDA>,-include=${variant_INCLUDE},SHELL:-include\ ${variant_INCLUDE}>)
  endif()
  nbody_executable(${name} ${name}_object nbody_program)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
  if(BUILD_TESTING AND variant_TESTS)
    nbody_executable(${name}_test ${name}_object nbody_step_tests)
    set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
    nbody_add_step_test(${name} force "${variant_TESTS}")
  endif()
  if(BUILD_TESTING AND variant_FORCE_ERROR)
    nbody_test(${name}.force_error ${name} 120 SKIP_RETURN_CODE 77
      PYTHON force_error_test.py $<TARGET_FILE:${name}> ${variant_FORCE_ERROR})
  endif()
endfunction()
