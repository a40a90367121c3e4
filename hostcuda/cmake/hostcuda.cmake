# hostcuda_target(target)
#
# Compiles the .cu files of a target with the host C++ compiler, for execution on the CPU. The
# target may be of any kind and may have .cpp files too. The caller's compiler flags apply
# unchanged, and a launcher in CMAKE_CXX_COMPILER_LAUNCHER, such as ccache, still runs for every
# compilation.
#
# hostcuda_traced_target(target)
#
# Does the same as hostcuda_target, and traces every memory access (../trace). The code is
# optimised, because nvcc keeps values in registers too. The code is not vectorised, so that an
# access in the source stays one access.
#
# hostcuda_counted_target(target)
#
# Does the same as hostcuda_target, and adds code that counts the kernels' operations (../count).
# Needs clang++ even if another compiler builds the target.
#
# hostcuda_can_count(variable)
#
# Sets the variable to true if clang++ is installed.
#
# hostcuda_can_trace(variable)
#
# Sets the variable to true if tracing works with the compiler and flags of this directory. Tracing
# needs g++ and flags without a sanitizer. (clang instruments a different set of accesses, which we
# have not compared with the accesses on a GPU.)

include_guard(GLOBAL)

# The path is a property, not a variable, because folders that did not include this file also call
# the functions below.
cmake_path(SET hostcuda_launcher_folder NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../launcher)
set_property(GLOBAL PROPERTY hostcuda_launcher
  ${hostcuda_launcher_folder}/hostcudacc.py ${hostcuda_launcher_folder}/cuda_launch.py
  ${hostcuda_launcher_folder}/cuda_rewrite.py ${hostcuda_launcher_folder}/cuda_shared.py
  ${hostcuda_launcher_folder}/cuda_tokens.py ${hostcuda_launcher_folder}/cuda_variables.py
  ${hostcuda_launcher_folder}/counting.py ${hostcuda_launcher_folder}/missing.py
  ${hostcuda_launcher_folder}/ptx.py ${hostcuda_launcher_folder}/semantics.py ${hostcuda_launcher_folder}/wrong_calls.py)

function(hostcuda_target target)
  # find_package() starts the interpreter each time, which takes longer than the rest of this function.
  get_property(python GLOBAL PROPERTY hostcuda_python)
  if(NOT python)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(python ${Python3_EXECUTABLE})
    set_property(GLOBAL PROPERTY hostcuda_python ${python})
  endif()
  get_property(launcher_files GLOBAL PROPERTY hostcuda_launcher)
  list(GET launcher_files 0 launcher)

  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  if(sources)
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES
      LANGUAGE CXX
      OBJECT_DEPENDS "${launcher_files}")
  endif()

  # hostcuda's launcher replaces the target's launcher and calls it with the rewritten file.
  set(command ${python} ${launcher})
  get_target_property(inner_launcher ${target} CXX_COMPILER_LAUNCHER)
  if(inner_launcher)
    list(APPEND command --launcher=${inner_launcher})
  endif()
  set_target_properties(${target} PROPERTIES
    CXX_COMPILER_LAUNCHER "${command}"
    LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE hostcuda)
endfunction()

function(hostcuda_traced_target target)
  hostcuda_target(${target})
  # DWARF 4, because with DWARF 5 the addr2line of binutils prints wrong files for functions from
  # headers. -fsanitize is passed only to the compiler, not to the linker, because hostcuda_trace
  # replaces the sanitizers' libraries.
  target_compile_options(${target} PRIVATE -O2 -g1 -gdwarf-4 -fsanitize=thread,bounds,signed-integer-overflow
    --param=tsan-distinguish-volatile=1 -fno-tree-vectorize -fno-tree-slp-vectorize
    -fno-optimize-sibling-calls -Wno-tsan)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # The compiler then copies memory with library calls, not with inline instructions, because
    # hostcuda_trace sees only the calls.
    target_compile_options(${target} PRIVATE -mstringop-strategy=libcall)
  endif()
  target_compile_definitions(${target} PRIVATE HOSTCUDA_TRACE=1)
  target_link_libraries(${target} PRIVATE hostcuda_trace)
endfunction()

function(hostcuda_can_count variable)
  find_program(HOSTCUDA_CLANG NAMES clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17
    clang++-16 clang++-15 clang++-14 DOC "clang++ for counting the operations of kernels")
  mark_as_advanced(HOSTCUDA_CLANG)
  set(${variable} ${HOSTCUDA_CLANG} PARENT_SCOPE)
endfunction()

function(hostcuda_counted_target target)
  hostcuda_target(${target})
  get_target_property(command ${target} CXX_COMPILER_LAUNCHER)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${command};--count=${HOSTCUDA_CLANG}")
  target_link_libraries(${target} PRIVATE hostcuda_count)
endfunction()

function(hostcuda_can_trace variable)
  get_directory_property(options COMPILE_OPTIONS)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT "${CMAKE_CXX_FLAGS} ${options}" MATCHES "-fsanitize=")
    set(${variable} TRUE PARENT_SCOPE)
  else()
    set(${variable} FALSE PARENT_SCOPE)
  endif()
endfunction()
