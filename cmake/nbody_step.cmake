# nbody_step(name [DRAFT] [FLAGS flag...] [CUDA_FLAGS flag...] [LIBRARIES cublas] [COMMON nbody_cluster]
#            [DEVICES count...])
#
# Builds and tests a step. From the step's single source file it makes:
#   name           the program
#   inspect_name   a .cu step for `./nbody inspect`, built only on request (cmake/inspect.cmake)
#   name_test      the same object file, linked with the tests common to all steps instead of the
#                  command line; tests call the step's own simulate(), and nothing is compiled twice
# FLAGS are for the host compiler and a .cpp step, CUDA_FLAGS are for nvcc. LIBRARIES are CUDA
# libraries, COMMON are other libraries of this project. Through hostcuda, every .cu file is
# compiled in the same way, with NBODY_HOSTCUDA_FLAGS. DEVICES are numbers of emulated devices; the
# step's tests run once with each number. A DRAFT is built and tested like any other step, but documents
# leave it out (./nbody new step). Without NBODY_CUDA_PROGRAMS, nvcc still compiles every step
# (cmake/checked_by_nvcc.cmake), but links only step 01 as a program. This program shows that nvcc's
# objects can be linked; when it runs, it reports that there is no device.
include(checked_by_nvcc)

# Mathematical functions do not set errno, as on a GPU, so that sqrtf is one instruction. Programs
# use all instructions of the machine that builds them; installed programs do not (../packaging).
set(flags -O2 -march=native -fno-math-errno)
if(NBODY_PORTABLE OR CMAKE_CROSSCOMPILING)
  list(REMOVE_ITEM flags -march=native)
endif()
set(NBODY_HOSTCUDA_FLAGS ${flags} CACHE STRING "Flags with which the host compiler compiles kernels")

option(NBODY_COVERAGE "Count which lines and branches of the steps run (tests/coverage)" OFF)
set(NBODY_STEP_TEST_SECONDS 300)
if(NBODY_COVERAGE)
  set(NBODY_STEP_TEST_SECONDS 1800)  # the tests are not optimised
endif()

# nbody_object(target source text [FLAGS flag...] [CUDA_FLAGS flag...] [LIBRARIES cublas]) compiles
# a source file in the same way as a step's. In records, `text` follows the flags of the source file.
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
    # Optimisation merges lines, so some lines that run would count as not executed.
    list(APPEND flags -O0 --coverage)
    target_link_options(${target} INTERFACE --coverage)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  list(JOIN flags " " flags_text)
  target_compile_definitions(${target} PRIVATE NBODY_FLAGS="${flags_text}${text}")
  foreach(library IN LISTS object_LIBRARIES)
    # The CUDA toolkit's header folder, or hostcuda's.
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

  nbody_executable(${name} ${name}_object "${step_COMMON};nbody_program")  # COMMON calls nbody_program
  set_target_properties(${name} PROPERTIES NBODY_DRAFT ${step_DRAFT})
  if(BUILD_TESTING)
    nbody_executable(${name}_test ${name}_object nbody_step_tests)
    nbody_add_step_tests(${name} ${step_DEVICES})
    if(NBODY_CUDA AND step_LIBRARIES)
      # Programs with cuBLAS take long to load, so their tests start before shorter ones.
      set_tests_properties(${name}.command_line PROPERTIES COST 8)
    endif()
  endif()
endfunction()

# nbody_step_variant(name variant FILTER filter DEFINES NAME=VALUE...
#                    [CUDA_FLAGS flag...] [LIBRARIES cublas] [COMMON nbody_cluster])
#
# name_variant_test runs the tests of a step that has other values of its TUNABLE parameters. A
# small problem then takes branches that would otherwise need more bodies than a test without a GPU
# can have.
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
    ENVIRONMENT "${NBODY_TEST_ENVIRONMENT};HOSTCUDA_ORDER=random;HOSTCUDA_STREAMS=random"
    COMMAND ${name}_${variant}_test --gtest_filter=${step_FILTER})
  nbody_if_changed(${name}.${variant} PROGRAMS ${object} ${name}_${variant}_test)
endfunction()

# nbody_add_program_test(name test arguments...) runs the program, if it is built. It must exit with
# code 0.
function(nbody_add_program_test name test)
  if(TARGET ${name} AND BUILD_TESTING)
    nbody_test(${name}.${test} ${name} 120 SKIP_RETURN_CODE 77
      ENVIRONMENT "HOSTCUDA_ORDER=random;HOSTCUDA_STRICT_MEM=1" COMMAND ${name} ${ARGN})
  endif()
endfunction()

function(nbody_executable name object libraries)
  add_executable(${name})
  target_link_libraries(${name} PRIVATE ${object} ${libraries})
  # An installed program finds the MPI and NCCL libraries that it was built with.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  if(NBODY_CUDA)
    # Programs may be copied to a GPU machine with older or newer libraries, and must start there.
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY Static)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
  endif()
endfunction()

# By default, threads that wait for the next kernel spin, which slows down other tests: in a step
# with many small kernels, spinning takes most of the processor time.
set(NBODY_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive)

# Every step gets the same tests in the same groups. Through hostcuda, the tests that depend on the
# order of threads or streams run again in orders that no GPU would choose.
function(nbody_add_step_tests name)
  set(emulated FALSE)
  if(NOT NBODY_CUDA)
    get_target_property(sources ${name}_object SOURCES)
    if(sources MATCHES "\\.cu")
      set(emulated TRUE)
    endif()
  endif()
  # Without a GPU, 4099 bodies are tested only nightly. The quick tests use sizes around the step's own
  # boundaries, and 9,217 bodies (SweepLarge), which need more tiles. For emulated devices, these
  # tests are only nightly, too: nine steps of 2,111 bodies (quick: 1,031), checks of several steps
  # with 9,217 and 6,144 bodies, and full blocks with 512, 1,024 and 1,025 bodies (quick: 513, 1,023
  # and 1,301), and step 12 in double precision in every shape (quick: in the shape that it chooses). In
  # step 13, 512 and 1,024 bodies fill a block's memory, so these sizes are quick tests.
  set(nightly)
  if(emulated)
    set(nightly "Force.*Large*:*.ManyBodies:*4099:*/2111:*FullBlocks*/1025:*Float64.*Shape:*Float64.Few*")
    if(NOT name MATCHES "^step13")
      string(APPEND nightly ":*FullBlocks*/512:*FullBlocks*/1024")
    endif()
    if(name MATCHES "^step(0[34]|1[01246]|15[b-e])")  # large blocks, or several kernels per time step
      string(APPEND nightly ":*TwelveBits*")
    endif()
  elseif(NOT NBODY_CUDA)
    set(nightly "*4099")
  endif()
  nbody_add_step_test(${name} force "Force.*:-${nightly}")
  nbody_add_step_test(${name} physics "Physics.*")
  nbody_add_step_test(${name} size_sweep "*Sweep*:-${nightly}")
  nbody_if_changed(${name}.size_sweep)
  if(nightly)
    nbody_add_nightly_step_test(${name} large "${nightly}")
  endif()
  if(emulated)
    # The tests in adversarial orders use fewer random problems than the tests in the usual order, and
    # different problems. Runs with many systems in random orders follow below.
    set(quick "-*Large*:*4099:*/1000:*TwelveBits*:*Float64*:*Shapes*:*FullBlocks*")
    # The emulated GPU gets as many SMs as a large one, so that the rules for shapes choose other
    # shapes than usual.
    set(sms 132)
    if(name MATCHES "^step13")  # each thread of a cooperative grid needs a stack
      set(sms 12)
    endif()
    set(many_systems "*AreAllRight:*FillADevice:*AByteCounts")
    nbody_add_step_test(${name} reverse "Force.*:*Sweep*:${quick}:${many_systems}"
      HOSTCUDA_ORDER=reverse HOSTCUDA_SMS=${sms} NBODY_TEST_SEED=17 NBODY_TEST_CASES=2)
    nbody_if_changed(${name}.reverse)
    nbody_add_nightly_step_test(${name} reverse_all "Force.*:*Sweep*" HOSTCUDA_ORDER=reverse)
    # By default there are three devices, to test that a step for one device works if there are
    # others. The quick tests use two, three and five devices.
    set(device_counts ${ARGN})
    if(NOT device_counts)
      set(device_counts 3)
    endif()
    set(adversarial HOSTCUDA_ORDER=random HOSTCUDA_STREAMS=lazy HOSTCUDA_SEED=7 HOSTCUDA_STRICT_MEM=1)
    foreach(devices IN LISTS device_counts)
      set(add nbody_add_nightly_step_test)
      set(filter "Force.*:*Sweep*:${quick}")
      if(devices MATCHES "^[235]$")
        set(add nbody_add_step_test)
        string(APPEND filter ":*AreAllRight")  # tests more systems than fill a device
      endif()
      if(NOT ARGN)
        string(APPEND filter ":*AByteCounts")  # if devices share the systems, each has fewer
      endif()
      cmake_language(CALL ${add} ${name} adversarial_${devices} "${filter}" ${adversarial}
        HOSTCUDA_DEVICES=${devices} NBODY_TEST_SEED=1${devices} NBODY_TEST_CASES=2)
      if(devices MATCHES "^[235]$")
        nbody_if_changed(${name}.adversarial_${devices})
      endif()
    endforeach()
    # The nightly tests also use these orders for the largest sizes that are not near a boundary,
    # and for many systems and steps.
    nbody_add_nightly_step_test(${name} adversarial_large
      "*Large*:*4099:*/1000:*AreAllRight:*Float64*:*Shapes*:*FullBlocks*" ${adversarial})
  endif()
  # run_step() is the same in every program. A step can affect only the cases below: the end of a
  # run in several calls, the record, the precision, the devices. tests/command_line tests the rest.
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
