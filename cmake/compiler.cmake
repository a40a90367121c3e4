# What every target of the project is compiled with, and where its packages come from.

option(NBODY_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
enable_language(C)  # what the check for HDF5 compiles
find_package(HDF5 QUIET COMPONENTS C)
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()

find_program(NBODY_CCACHE ccache)
if(NBODY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${NBODY_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${NBODY_CCACHE})
endif()

if(NBODY_SANITIZE)
  # halt_on_error: a finding must fail the test that made it.
  # -g: a finding should name its line.
  add_compile_options(-g -fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(NBODY_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Native where a device can be asked, otherwise Hopper: nothing here needs a GPU to build.
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
    # CMake 3.25 does not know yet that nvcc has C++20.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
else()
  include(${PROJECT_SOURCE_DIR}/hostcuda/cmake/hostcuda.cmake)
endif()

# An interface library rather than global flags, so that third-party code is not held to them.
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

# For what is compiled more often than it runs: without the optimiser, and several files at a time,
# since each of them reads the same headers of a library.
function(nbody_compile_quickly target)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
endfunction()
