# nbody_step(name [DRAFT] [FLAGS flag...] [CUDA_FLAGS flag...] [LIBRARIES cublas] [COMMON nbody_cluster]
#            [DEVICES count...])
#
# Builds and tests a step. From the step's one source file it makes
#   name        the program
#   inspect_name   a .cu step for `./nbody inspect`, built only on request (cmake/inspect.cmake)
#   name_test   the same object file, linked with the tests every step must pass instead of the
#               command line: tests call the step's own simulate(), nothing is compiled twice
# FLAGS go to the host compiler for a .cpp step, CUDA_FLAGS to nvcc; LIBRARIES are CUDA libraries, COMMON
# others of this project.
# Through hostcuda every .cu file is compiled the same way, with NBODY_HOSTCUDA_FLAGS, and its tests
# run once for each of DEVICES, the number of emulated devices.
# A DRAFT is built and tested like any other step; documents leave it out (./nbody new step).
# Without NBODY_CUDA_PROGRAMS, nvcc still compiles every step (cmake/checked_by_nvcc.cmake). Only step 01 is
# then linked as a program: it shows that nvcc's objects link, and it reports that there is no device.
include(checked_by_nvcc)

# errno is off, as on a GPU, so that sqrtf is one instruction. Programs that run on the machine that
# built them use all of its instructions; installed programs do not (../packaging).
set(flags -O2 -march=native -fno-math-errno)
if(NBODY_PORTABLE OR CMAKE_CROSSCOMPILING)
  list(REMOVE_ITEM flags -march=native)
endif()
set(NBODY_HOSTCUDA_FLAGS ${flags} CACHE STRING "How the host compiler compiles kernels")

option(NBODY_COVERAGE "Count which lines and branches of the steps run (tests/coverage)" OFF)
set(NBODY_STEP_TEST_SECONDS 300)
if(NBODY_COVERAGE)
  set(NBODY_STEP_TEST_SECONDS 1800)  # not optimised
endif()

# nbody_object(target source text [FLAGS flag...] [CUDA_FLAGS flag...] [LIBRARIES cublas]): compiles
# a source like a step's; `text` follows its flags in records.
function(nbody_object target source text)
  cmake_parse_arguments(PARSE_ARGV 3 object "" "" "FLAGS;CUDA_FLAGS;LIBRARIES")
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PUBLIC nbody_common PRIVATE nbody_warnings)
  if(source MATCHES "\\.cpp$")
    set(flags ${object_FLAGS})
  elseif(NBODY_CUDA)
    set(flags -O3 -lineinfo ${object_CUDA_FLAGS})
  else()
    set(flags ${NBODY_HOSTCUDA_FLAGS})
    hostcuda_target(${target})
  endif()
  if(NBODY_COVERAGE)
    # The optimiser merges lines, so some executed lines would count as not executed.
    list(APPEND flags -O0 --coverage)
    target_link_options(${target} INTERFACE --coverage)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  list(JOIN flags " " flags_text)
  target_compile_definitions(${target} PRIVATE NBODY_FLAGS="${flags_text}${text}")
  foreach(library IN LISTS object_LIBRARIES)
    # The toolkit's, or hostcuda's replacement.
    if(NBODY_CUDA)
      target_link_libraries(${target} PUBLIC CUDA::${library})
    else()
      target_link_libraries(${target} PUBLIC hostcuda_${library})
    endif()
  endforeach()
endfunction()

function(nbody_step name)
  cmake_parse_arguments(PARSE_ARGV 1 step "DRAFT" "" "FLAGS;CUDA_FLAGS;LIBRARIES;COMMON;DEVICES")
  file(GLOB source LIST_DIRECTORIES false nbody.cpp nbody.cu)
  if(NBODY_CUDA AND NOT NBODY_CUDA_PROGRAMS AND NOT name STREQUAL "step01_gpu_naive")
    list(TRANSFORM step_LIBRARIES PREPEND CUDA::)
    nbody_checked_by_nvcc(${source} "${step_CUDA_FLAGS}" ${step_COMMON} ${step_LIBRARIES})
    return()
  endif()
  nbody_object(${name}_object ${source} "" FLAGS ${step_FLAGS} CUDA_FLAGS ${step_CUDA_FLAGS}
    LIBRARIES ${step_LIBRARIES})
  target_link_libraries(${name}_object PUBLIC ${step_COMMON})
  if(source MATCHES "\\.cu$")
    nbody_inspectable(${name} ${source} LIBRARIES ${step_LIBRARIES} COMMON ${step_COMMON})
  endif()

  nbody_executable(${name} ${name}_object "${step_COMMON};nbody_program")  # the first calls the other
  if(BUILD_TESTING)
    nbody_executable(${name}_test ${name}_object nbody_step_tests)
    nbody_add_step_tests(${name} ${step_DEVICES})
    if(NBODY_CUDA AND step_LIBRARIES)
      # Loading them takes longer than the tests that follow, so they start first.
      set_tests_properties(${name}.command_line PROPERTIES COST 8)
    endif()
  endif()
endfunction()

# nbody_step_variant(name variant FILTER filter DEFINES NAME=VALUE...
#                    [CUDA_FLAGS flag...] [LIBRARIES cublas] [COMMON nbody_cluster])
#
# name_variant_test: the tests of a step compiled with other values of its TUNABLE parameters, so
# that a small problem takes the branches that otherwise need more bodies than a test can have
# without a GPU.
function(nbody_step_variant name variant)
  if(NBODY_CUDA OR NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 step "" "FILTER" "DEFINES;CUDA_FLAGS;LIBRARIES;COMMON")
  set(object ${name}_${variant}_object)
  nbody_object(${object} ${CMAKE_CURRENT_SOURCE_DIR}/nbody.cu "" CUDA_FLAGS ${step_CUDA_FLAGS}
    LIBRARIES ${step_LIBRARIES})
  target_link_libraries(${object} PUBLIC ${step_COMMON})
  target_compile_definitions(${object} PRIVATE ${step_DEFINES})
  nbody_executable(${name}_${variant}_test ${object} nbody_step_tests)
  nbody_test(${name}.${variant} ${name} ${NBODY_STEP_TEST_SECONDS}
    ENVIRONMENT "${NBODY_TEST_ENVIRONMENT};HOSTCUDA_ORDER=random"
    COMMAND ${name}_${variant}_test --gtest_filter=${step_FILTER})
endfunction()

# nbody_add_program_test(name test arguments...): runs the program, if it is built; it must exit
# with code 0.
function(nbody_add_program_test name test)
  if(TARGET ${name} AND BUILD_TESTING)
    nbody_test(${name}.${test} ${name} 120 SKIP_RETURN_CODE 77
      ENVIRONMENT "HOSTCUDA_ORDER=random;HOSTCUDA_STRICT_MEM=1" COMMAND ${name} ${ARGN})
  endif()
endfunction()

function(nbody_executable name object libraries)
  add_executable(${name})
  target_link_libraries(${name} PRIVATE ${object} ${libraries})
  # An installed program finds the MPI and the NCCL that it was built with.
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  if(NBODY_CUDA)
    # A program copied to a GPU machine with older or newer libraries still starts.
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY Static)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
  endif()
endfunction()

# Threads that wait for the next kernel spin and slow down other tests: they use most of the
# processor time of a step with many small kernels.
set(NBODY_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive)

# Every step gets the same tests, in the same groups. Through hostcuda, those that depend on the
# order of threads or streams run again in orders that no GPU would choose.
function(nbody_add_step_tests name)
  set(emulated FALSE)
  if(NOT NBODY_CUDA)
    get_target_property(sources ${name}_object SOURCES)
    if(sources MATCHES "\\.cu")
      set(emulated TRUE)
    endif()
  endif()
  # Nightly, without a GPU: 4099 bodies with every check. The quick tests use 9,217 bodies
  # (LadderLarge), which have more tiles, and the step's own boundaries. Emulated devices also take,
  # nightly, 2,111 bodies for nine steps (quick: 1,031), the checks of several steps with 9,217 and
  # 6,144 bodies, and those full-block sizes that 513, 1,023 and 1,301 represent in the quick tests.
  set(night)
  if(emulated)
    set(night "Force.*Large*:*.ManyBodies:*4099:*/2111:*FullBlocks*/512:*FullBlocks*/1025")
    if(name MATCHES "^step(0[34]|1[0124]|15b)")  # large blocks, or several kernels per time step
      string(APPEND night ":*TwelveBits*")
    endif()
  elseif(NOT NBODY_CUDA)
    set(night "*4099")
  endif()
  nbody_add_step_test(${name} force "Force.*:-${night}")
  nbody_add_step_test(${name} physics "Physics.*")
  nbody_add_step_test(${name} ladder "*Ladder*:-${night}")
  if(night)
    nbody_add_nightly_step_test(${name} large "${night}")
  endif()
  if(emulated)
    # Uses other random problems than the usual order does, and fewer. Many systems run in random
    # orders below.
    set(by_day "-*Large*:*4099:*/1000:*TwelveBits*:*Float64*:*Shapes*:*FullBlocks*")
    # As many SMs as a large GPU has, so that the rules for shapes choose other shapes.
    set(sms 132)
    if(name MATCHES "^step13")  # each thread of a cooperative grid has a stack
      set(sms 12)
    endif()
    set(many_systems "*AreAllRight:*FillADevice:*AByteCounts")
    nbody_add_step_test(${name} reverse "Force.*:*Ladder*:${by_day}:${many_systems}"
      HOSTCUDA_ORDER=reverse HOSTCUDA_SMS=${sms} NBODY_TEST_SEED=17 NBODY_TEST_CASES=2)
    nbody_add_nightly_step_test(${name} reverse_all "Force.*:*Ladder*" HOSTCUDA_ORDER=reverse)
    # Three devices by default, so that a step for one device is tested in the presence of others.
    # The quick tests use two, three and five.
    set(device_counts ${ARGN})
    if(NOT device_counts)
      set(device_counts 3)
    endif()
    set(adversarial HOSTCUDA_ORDER=random HOSTCUDA_STREAMS=lazy HOSTCUDA_SEED=7 HOSTCUDA_STRICT_MEM=1)
    foreach(devices IN LISTS device_counts)
      set(add nbody_add_nightly_step_test)
      set(filter "Force.*:*Ladder*:${by_day}")
      if(devices MATCHES "^[235]$")
        set(add nbody_add_step_test)
        string(APPEND filter ":*AreAllRight")  # more systems than fill a device
      endif()
      if(NOT ARGN)
        string(APPEND filter ":*AByteCounts")  # they differ if devices share the systems
      endif()
      cmake_language(CALL ${add} ${name} adversarial_${devices} "${filter}" ${adversarial}
        HOSTCUDA_DEVICES=${devices} NBODY_TEST_SEED=1${devices} NBODY_TEST_CASES=2)
    endforeach()
    # The largest sizes in these orders, not next to any boundary, and many systems for many steps:
    # nightly.
    nbody_add_nightly_step_test(${name} adversarial_large
      "*Large*:*4099:*/1000:*AreAllRight:*Float64*:*Shapes*:*FullBlocks*" ${adversarial})
  endif()
  # run_step() is the same in every program. These are what a step can break: the end of a run in
  # several calls, the record, the precision, the devices. The rest is in tests/command_line.
  nbody_add_command_line_test(${name}.command_line ${name}
    "*Record*:*Snapshots*:*SameBits:*Double*:*Devices*:*WithoutDevice*:*Tuned*")
endfunction()

function(nbody_add_command_line_test test name filter)
  nbody_test(${test} "${name};bad-input" 120 SKIP_RETURN_CODE 77
    ENVIRONMENT "NBODY_PROGRAM=$<TARGET_FILE:${name}>;${NBODY_TEST_ENVIRONMENT}"
    COMMAND command_line_test --gtest_filter=${filter})
endfunction()

function(nbody_add_step_test name group filter)
  nbody_test(${name}.${group} ${name} ${NBODY_STEP_TEST_SECONDS} SKIP_RETURN_CODE 77
    ENVIRONMENT "${NBODY_TEST_ENVIRONMENT};${ARGN}" COMMAND ${name}_test --gtest_filter=${filter})
endfunction()

function(nbody_add_nightly_step_test name group filter)
  nbody_add_step_test(${name} ${group} "${filter}" ${ARGN})
  set_tests_properties(${name}.${group} PROPERTIES LABELS "${name};nightly")
endfunction()
