# hostcuda_target(target)
#
# Compiles the .cu files of a target with the host C++ compiler, for execution on the CPU. Works for
# every kind of target, also one that has .cpp files. Compiler flags remain the caller's.
# If NBODY_CCACHE holds the path of ccache, compilations go through it.

include_guard(GLOBAL)

cmake_path(SET hostcuda_launcher_folder NORMALIZE
  ${CMAKE_CURRENT_LIST_DIR}/../hostcuda/launcher)
# A property and not a variable: functions are called from other folders than the one that included
# this file.
set_property(GLOBAL PROPERTY hostcuda_launcher
  ${hostcuda_launcher_folder}/hostcudacc.py ${hostcuda_launcher_folder}/cuda_rewrite.py)

function(hostcuda_target target)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  get_property(launcher_files GLOBAL PROPERTY hostcuda_launcher)
  list(GET launcher_files 0 launcher)

  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  if(sources)
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES
      LANGUAGE CXX
      OBJECT_DEPENDS "${launcher_files}")
  endif()

  set(command ${Python3_EXECUTABLE} ${launcher})
  if(NBODY_CCACHE)
    list(APPEND command --ccache=${NBODY_CCACHE})
  endif()
  # Replaces a launcher that CMAKE_CXX_COMPILER_LAUNCHER may have set: ours starts ccache itself,
  # once it has rewritten the file.
  set_target_properties(${target} PROPERTIES
    CXX_COMPILER_LAUNCHER "${command}"
    LINKER_LANGUAGE CXX)
  target_compile_definitions(${target} PRIVATE NBODY_HOSTCUDA=1)
  target_link_libraries(${target} PRIVATE hostcuda)
endfunction()
