# Libraries for programs of other projects: nbody::common has what every step uses (nbody/step.h),
# nbody::program turns a simulate() into a program with the steps' command line, and nbody::nbody is
# libnbody (../library). find_package(nbody) and pkg-config find them, even if the prefix was moved.
# To install only the libraries: cmake --install BUILD --component library
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/nbody)

install(CODE "set(NBODY_BUILD \"${PROJECT_BINARY_DIR}\")
              set(NBODY_FILES \" -o (common|view)/CMakeFiles/nbody_(common|texts|program|view)\")"
        COMPONENT library)
install(SCRIPT refuse_native.cmake COMPONENT library)
set_target_properties(nbody_common PROPERTIES EXPORT_NAME common)
set_target_properties(nbody_program PROPERTIES EXPORT_NAME program)
install(TARGETS nbody_common nbody_program nbody_view EXPORT nbody
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/common/include/nbody DESTINATION include COMPONENT library)
if(TARGET nbody_library)
  install(TARGETS nbody_library EXPORT nbody
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(FILES ${PROJECT_SOURCE_DIR}/library/nbody.h ${PROJECT_SOURCE_DIR}/library/nbody.hpp
          DESTINATION include COMPONENT library)
endif()
install(EXPORT nbody NAMESPACE nbody:: FILE nbodyTargets.cmake DESTINATION ${package_folder}
        COMPONENT library)

configure_package_config_file(nbodyConfig.cmake.in nbodyConfig.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(nbodyConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nbodyConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/nbodyConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT library)

# pkg-config knows the folder of nbody.pc (pcfiledir); all other paths are relative to this folder.
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(nbody.pc.in nbody.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nbody.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT library)
if(TARGET nbody_library)
  configure_file(libnbody.pc.in libnbody.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libnbody.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endif()
