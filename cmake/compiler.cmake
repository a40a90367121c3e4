# Compiler options and packages shared by all targets.

set(NBODY_SANITIZE "" CACHE STRING "Sanitizers to build with: \"address,undefined\", \"thread\", or none")

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  message(FATAL_ERROR "clang ${CMAKE_CXX_COMPILER_VERSION} lacks the C++20 coroutines that the live "
                      "view uses: use g++, or clang 15 or newer")
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
enable_language(C)  # the check for HDF5 is written in C
find_package(HDF5 QUIET COMPONENTS C)
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()

# ccache fails to compile anything if it has no writable directory (no home, or a read-only one).
find_program(NBODY_CCACHE ccache)
if(NBODY_CCACHE)
  execute_process(COMMAND ${NBODY_CCACHE} --get-config cache_dir
                  OUTPUT_VARIABLE cache OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND sh -c "mkdir -p \"$1\" && test -w \"$1\"" sh ${cache}
                  RESULT_VARIABLE cannot_write ERROR_QUIET)
  if(cannot_write)
    message(STATUS "ccache is not used: it cannot write to ${cache}")
  endif()
endif()
if(NOT NBODY_CCACHE OR cannot_write)
  set(NBODY_CCACHE "")  # hides the cached variable, so that the next configuration searches again
endif()
set(CMAKE_CXX_COMPILER_LAUNCHER ${NBODY_CCACHE})
set(CMAKE_CUDA_COMPILER_LAUNCHER ${NBODY_CCACHE})

# This linker takes a quarter of the time that the default takes, and there are more than 200
# programs to link.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld NBODY_HAS_LLD)
if(NBODY_HAS_LLD AND NOT NBODY_SANITIZE)
  add_link_options(-fuse-ld=lld)
endif()

# By default g++ begins to collect garbage at 128 MB, which takes a tenth of its time if Boost's
# headers are included.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=500000>)
endif()

if(NBODY_SANITIZE)
  # With -fno-sanitize-recover, a test fails if the sanitizer reports an error; with -g, the report
  # contains the line.
  add_compile_options(-g -fsanitize=${NBODY_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${NBODY_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # containers check their indices
endif()
if(NBODY_SANITIZE STREQUAL "thread")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "ThreadSanitizer builds need g++, because the annotations of libgomp and of "
                        "hostcuda's fibers are written for g++")
  endif()
  # hostcuda's fibers switch stacks, so ThreadSanitizer's record of calls would be wrong and grow
  # without bound.
  add_compile_options(--param=tsan-instrument-func-entry-exit=0)
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)  # ThreadSanitizer does not understand fences
  # This is a shared library, because it must be loaded before libgomp, whatever the order of static
  # libraries.
  add_library(nbody_openmp_for_tsan SHARED ${PROJECT_SOURCE_DIR}/tests/thread_sanitizer/openmp.cpp)
  target_link_libraries(nbody_openmp_for_tsan PRIVATE ${CMAKE_DL_LIBS})
  link_libraries(-Wl,--no-as-needed nbody_openmp_for_tsan)
endif()

if(NBODY_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # If a device can be queried, build for it. Otherwise build for Hopper, because building needs
    # no GPU.
    execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_device OUTPUT_QUIET ERROR_QUIET)
    if(no_device EQUAL 0)
      set(CMAKE_CUDA_ARCHITECTURES native)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    # CMake 3.25 does not know nvcc's option for C++20.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
else()
  include(${PROJECT_SOURCE_DIR}/hostcuda/cmake/hostcuda.cmake)
endif()

# These are not global flags but an interface library, so that they do not affect third-party code.
add_library(nbody_warnings INTERFACE)
set(host_warnings -Wall -Wextra)
if(NBODY_WARNINGS_ARE_ERRORS)
  list(APPEND host_warnings -Werror)
endif()
target_compile_options(nbody_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${host_warnings}>)
if(NBODY_CUDA)
  target_compile_options(nbody_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  if(NBODY_WARNINGS_ARE_ERRORS)
    target_compile_options(nbody_warnings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
  endif()
endif()

# Sets how tests are compiled, because they are compiled more often than they run: without
# optimisation, with containers that check indices, and several files at a time, because the files
# read the same headers.
function(nbody_compile_quickly target)
  target_compile_options(${target} PRIVATE -O0)
  target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
endfunction()
