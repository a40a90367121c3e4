# Stops the installation of programs compiled for this machine's processor, because they die of SIGILL
# on an older one. compile_commands.json has every flag, whatever set it. NBODY_BUILD is the build folder;
# NBODY_FILES is a pattern of the object files to check, by default all.
set(database ${NBODY_BUILD}/compile_commands.json)
set(commands "")
if(EXISTS ${database})
  file(STRINGS ${database} commands REGEX "^ *\"command\":")
endif()
if(NBODY_FILES)
  list(FILTER commands INCLUDE REGEX "${NBODY_FILES}")
endif()
if(commands STREQUAL "")
  message(FATAL_ERROR "${database} does not say how the programs were compiled")
endif()
if(commands MATCHES "-m(arch|cpu)=native")
  message(FATAL_ERROR
    "The programs of ${NBODY_BUILD} are for this machine's processor (${CMAKE_MATCH_0}) and are not "
    "installed. For programs that run on any processor: cmake --preset portable && cmake --build --preset portable && "
    "cmake --install build/portable --prefix DIR")
endif()
