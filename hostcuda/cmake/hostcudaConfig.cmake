# find_package(hostcuda) provides the targets hostcuda, hostcuda_count and hostcuda_trace,
# hostcuda_cublas if OpenBLAS is installed, and the functions of hostcuda.cmake.
include(CMakeFindDependencyMacro)
find_dependency(OpenMP COMPONENTS CXX)

cmake_path(SET hostcuda_prefix NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../..)
if(EXISTS ${hostcuda_prefix}/lib/libboost_context.a)  # pip's package contains it
  set(hostcuda_context ${hostcuda_prefix}/lib/libboost_context.a)
else()
  find_dependency(Boost COMPONENTS context)
  set(hostcuda_context Boost::context)
endif()
set(hostcuda_libraries hostcuda hostcuda_count hostcuda_trace)
if(EXISTS ${hostcuda_prefix}/lib/libhostcuda_cublas.a)
  set(BLA_VENDOR OpenBLAS)
  find_package(BLAS QUIET)
  if(BLAS_FOUND)
    list(APPEND hostcuda_libraries hostcuda_cublas)
  endif()
endif()
foreach(library IN LISTS hostcuda_libraries)
  if(NOT TARGET ${library})
    add_library(${library} STATIC IMPORTED)
    set_target_properties(${library} PROPERTIES
      IMPORTED_LOCATION ${hostcuda_prefix}/lib/lib${library}.a)
  endif()
endforeach()
target_include_directories(hostcuda INTERFACE
  ${hostcuda_prefix}/share/hostcuda/include ${hostcuda_prefix}/share/hostcuda/include/names)
target_compile_features(hostcuda INTERFACE cxx_std_17)
target_link_libraries(hostcuda INTERFACE ${hostcuda_context} OpenMP::OpenMP_CXX)
if(TARGET hostcuda_cublas)
  target_include_directories(hostcuda_cublas INTERFACE ${hostcuda_prefix}/share/hostcuda/cublas/include)
  target_link_libraries(hostcuda_cublas INTERFACE hostcuda BLAS::BLAS)
endif()
target_link_libraries(hostcuda_count INTERFACE hostcuda)
target_link_libraries(hostcuda_trace INTERFACE hostcuda)
target_link_options(hostcuda_trace INTERFACE -Wl,--wrap=memcpy,--wrap=memmove)  # as in trace/
include(${hostcuda_prefix}/share/hostcuda/cmake/hostcuda.cmake)
