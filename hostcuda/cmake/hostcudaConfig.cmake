# find_package(hostcuda) provides the targets hostcuda, hostcuda_cublas, hostcuda_count and
# hostcuda_trace, and the functions of hostcuda.cmake.
include(CMakeFindDependencyMacro)
find_dependency(Boost COMPONENTS context)
find_dependency(OpenMP COMPONENTS CXX)
set(BLA_VENDOR OpenBLAS)
find_dependency(BLAS)

cmake_path(SET hostcuda_prefix NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../..)
foreach(library hostcuda hostcuda_cublas hostcuda_count hostcuda_trace)
  if(NOT TARGET ${library})
    add_library(${library} STATIC IMPORTED)
    set_target_properties(${library} PROPERTIES
      IMPORTED_LOCATION ${hostcuda_prefix}/lib/lib${library}.a)
  endif()
endforeach()
target_include_directories(hostcuda INTERFACE
  ${hostcuda_prefix}/share/hostcuda/include ${hostcuda_prefix}/share/hostcuda/include/names)
target_compile_features(hostcuda INTERFACE cxx_std_17)
target_link_libraries(hostcuda INTERFACE Boost::context OpenMP::OpenMP_CXX)
target_include_directories(hostcuda_cublas INTERFACE ${hostcuda_prefix}/share/hostcuda/cublas/include)
target_link_libraries(hostcuda_cublas INTERFACE hostcuda BLAS::BLAS)
target_link_libraries(hostcuda_count INTERFACE hostcuda)
target_link_libraries(hostcuda_trace INTERFACE hostcuda)
target_link_options(hostcuda_trace INTERFACE -Wl,--wrap=memcpy,--wrap=memmove)  # as in trace/
include(${hostcuda_prefix}/share/hostcuda/cmake/hostcuda.cmake)
