# nbody_experiment(name KERNELS source.cu [SOURCES more.cpp...] [CUDA_FLAGS flag...] [ADVERSARIAL filter])
#
# Builds an experiment like a step, but with its own command line: main.cpp becomes the program and
# name_test.cpp the tests. Tests whose names match the filter ADVERSARIAL run again in adversarial
# orders of threads.
function(nbody_experiment name)
  cmake_parse_arguments(PARSE_ARGV 1 experiment "" "KERNELS;ADVERSARIAL" "SOURCES;CUDA_FLAGS")
  add_library(${name}_object OBJECT ${experiment_KERNELS} ${experiment_SOURCES})
  target_link_libraries(${name}_object PUBLIC nbody_common PRIVATE nbody_warnings)
  if(NBODY_CUDA)
    set(flags -O3 -lineinfo ${experiment_CUDA_FLAGS})
  else()
    set(flags ${NBODY_HOSTCUDA_FLAGS})
    hostcuda_target(${name}_object)
  endif()
  set_source_files_properties(${experiment_KERNELS} PROPERTIES COMPILE_OPTIONS "${flags}")
  list(JOIN flags " " flags_text)
  target_compile_definitions(${name}_object PRIVATE NBODY_FLAGS="${flags_text}")

  add_library(${name}_main OBJECT main.cpp)
  target_compile_options(${name}_main PRIVATE -O0)
  target_link_libraries(${name}_main PUBLIC nbody_common
    PRIVATE nbody_warnings nlohmann_json::nlohmann_json)
  nbody_executable(${name} ${name}_object ${name}_main)

  if(BUILD_TESTING)
    add_library(${name}_tests OBJECT ${name}_test.cpp
                ${PROJECT_SOURCE_DIR}/common/support/tests/test_main.cpp)
    nbody_compile_quickly(${name}_tests)
    target_link_libraries(${name}_tests PUBLIC nbody_common GTest::gtest PRIVATE nbody_warnings)
    nbody_executable(${name}_test ${name}_object ${name}_tests)
    nbody_add_step_test(${name} all "*")
    if(NOT NBODY_CUDA)
      nbody_add_step_test(${name} adversarial "${experiment_ADVERSARIAL}" HOSTCUDA_ORDER=random
        HOSTCUDA_STREAMS=lazy HOSTCUDA_SEED=7 HOSTCUDA_STRICT_MEM=1 HOSTCUDA_DEVICES=3)
    endif()
  endif()
endfunction()
