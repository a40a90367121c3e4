# Programs that only this machine's processor understands die of SIGILL on an older one: nothing is
# installed. compile_commands.json has every flag, wherever it came from. NBODY_BUILD is the build's
# folder.
set(commands "")
if(EXISTS ${NBODY_BUILD}/compile_commands.json)
  file(READ ${NBODY_BUILD}/compile_commands.json commands)
endif()
if(NOT commands MATCHES "\"command\"|\"arguments\"")
  message(FATAL_ERROR
    "${NBODY_BUILD}/compile_commands.json says nothing of how the programs were compiled")
endif()
if(commands MATCHES "-m(arch|cpu)=native")
  message(FATAL_ERROR
    "The programs of ${NBODY_BUILD} are for this machine's processor (${CMAKE_MATCH_0}) and are not "
    "installed. Those for any: cmake --preset portable && cmake --build --preset portable && "
    "cmake --install build/portable --prefix DIR")
endif()
