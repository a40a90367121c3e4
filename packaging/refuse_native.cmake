# What only this machine's processor understands dies of SIGILL on an older one: nothing is installed.
# compile_commands.json has every flag, wherever it came from. NBODY_BUILD is the build's folder;
# NBODY_FILES matches the object files to look at, by default all.
set(database ${NBODY_BUILD}/compile_commands.json)
set(commands "")
if(EXISTS ${database})
  file(STRINGS ${database} commands REGEX "^ *\"command\":")
endif()
if(NBODY_FILES)
  list(FILTER commands INCLUDE REGEX "${NBODY_FILES}")
endif()
if(commands STREQUAL "")
  message(FATAL_ERROR "${database} says nothing of how the programs were compiled")
endif()
if(commands MATCHES "-m(arch|cpu)=native")
  message(FATAL_ERROR
    "The programs of ${NBODY_BUILD} are for this machine's processor (${CMAKE_MATCH_0}) and are not "
    "installed. Those for any: cmake --preset portable && cmake --build --preset portable && "
    "cmake --install build/portable --prefix DIR")
endif()
