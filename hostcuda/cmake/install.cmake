# cmake --install installs bin/hostcuda and bin/nvcc, the headers, the libraries, and the files that
# find_package(hostcuda) reads. The layout of share/hostcuda is that of the source folder.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS hostcuda hostcuda_asan ${cublas} hostcuda_count hostcuda_trace
        ARCHIVE DESTINATION lib)
install(FILES ${exports} DESTINATION lib)
foreach(folder include cublas/include launcher gdb)
  cmake_path(GET folder PARENT_PATH parent)
  install(DIRECTORY ${folder} DESTINATION share/hostcuda/${parent} PATTERN __pycache__ EXCLUDE)
endforeach()
install(PROGRAMS bin/hostcuda bin/nvcc DESTINATION share/hostcuda/bin)
install(FILES cmake/hostcuda.cmake DESTINATION share/hostcuda/cmake)
install(DIRECTORY editors DESTINATION share/hostcuda)
install(FILES README.md PROGRAMS.md RACES.md LICENSE NOTICE CHANGELOG.md DESTINATION share/hostcuda)
install(FILES cmake/hostcudaConfig.cmake DESTINATION lib/cmake/hostcuda)
if(SKBUILD)  # pip's package: ../pyproject.toml puts the programs on the PATH
  # A wheel contains Boost.Context, so that compiling a program needs only a compiler.
  find_library(HOSTCUDA_BOOST_CONTEXT libboost_context.a REQUIRED)
  mark_as_advanced(HOSTCUDA_BOOST_CONTEXT)
  install(FILES ${HOSTCUDA_BOOST_CONTEXT} DESTINATION lib)
else()
  foreach(program hostcuda nvcc)
    install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin\")
      file(CREATE_LINK ../share/hostcuda/bin/${program}
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/${program}\" SYMBOLIC)")
  endforeach()
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hostcudaConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hostcudaConfigVersion.cmake DESTINATION lib/cmake/hostcuda)
