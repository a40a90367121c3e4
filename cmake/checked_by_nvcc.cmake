# Compiles files with nvcc to find the errors that only nvcc reports, in its front ends for host and
# device code or in ptxas. The host compiler has already compiled these files through hostcuda.
# Files with the same flags are compiled together, each in a namespace, because the headers that
# they share take most of the time.

# nbody_checked_by_nvcc(source flags library...) adds one file.
function(nbody_checked_by_nvcc source flags)
  string(MAKE_C_IDENTIFIER "nvcc_checks${flags}" target)
  set_property(GLOBAL APPEND PROPERTY NBODY_NVCC_CHECKS ${target})
  set_property(GLOBAL APPEND PROPERTY ${target}_FILES ${source})
  set_property(GLOBAL APPEND PROPERTY ${target}_LIBRARIES ${ARGN})
  set_property(GLOBAL PROPERTY ${target}_FLAGS ${flags})
endfunction()

# nbody_check_by_nvcc() compiles the added files; call it after all files are added. It is a macro,
# because the settings for the compiler are variables of the calling directory.
macro(nbody_check_by_nvcc)
  string(REPLACE "<CUDA_COMPILE_MODE>" "-cuda" CMAKE_CUDA_COMPILE_OBJECT "${CMAKE_CUDA_COMPILE_OBJECT}")
  get_property(targets GLOBAL PROPERTY NBODY_NVCC_CHECKS)
  list(REMOVE_DUPLICATES targets)
  # Nothing runs this code, so nvcc 13 and later optimise it less (-Ofc), which saves a third of the time.
  set(quickly -O3)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    set(quickly -Ofc=max)
  endif()
  foreach(target IN LISTS targets)
    nbody_write_files_to_check(${target})
    get_property(libraries GLOBAL PROPERTY ${target}_LIBRARIES)
    get_property(flags GLOBAL PROPERTY ${target}_FLAGS)
    add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/${target}.cu)
    target_link_libraries(${target} PRIVATE nbody_common nbody_warnings ${libraries})
    target_compile_options(${target} PRIVATE ${quickly} -lineinfo ${flags})
    target_compile_definitions(${target} PRIVATE NBODY_FLAGS="${flags}")
  endforeach()
  add_custom_target(checked_by_nvcc DEPENDS ${targets})
endmacro()

# The common headers are included before the first namespace begins. Inside the namespaces, their
# include guards then skip them.
function(nbody_write_files_to_check target)
  get_property(files GLOBAL PROPERTY ${target}_FILES)
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    file(GLOB own_headers CONFIGURE_DEPENDS ${folder}/*.h)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${own_headers} ${file})
    foreach(text IN LISTS own_headers file)
      file(STRINGS ${text} lines REGEX "^#include")
      # Another step's nbody.cu stays in the namespace: its own names are not for the other files.
      list(FILTER lines EXCLUDE REGEX "\"${name}/|\\.cu\"")
      list(APPEND headers ${lines})
    endforeach()
    file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${file})  # equal in every clone, for ccache
    string(APPEND namespaces "namespace ${name} {\n#include \"${file}\"\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES headers)
  list(JOIN headers "\n" headers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${target}.cu CONTENT "${headers}\n${namespaces}" @ONLY)
endfunction()
