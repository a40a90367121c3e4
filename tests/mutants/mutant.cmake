# nbody_mutant(name STEP step CAUGHT_BY gate FIND text REPLACE text)
#
# Copies the step's source with the one edit made, builds it as the step is built, and adds a test
# that passes only if the validator rejects it and names the gate. The text must occur exactly once.
function(nbody_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 mutant "" "STEP;CAUGHT_BY;FIND;REPLACE" "")
  file(GLOB original ${PROJECT_SOURCE_DIR}/${mutant_STEP}/nbody.c*)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${original})
  file(READ ${original} text)
  string(FIND "${text}" "${mutant_FIND}" first)
  string(FIND "${text}" "${mutant_FIND}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "mutant ${name}: the text to replace must occur once in ${original}")
  endif()
  string(REPLACE "${mutant_FIND}" "${mutant_REPLACE}" text "${text}")
  get_filename_component(extension ${original} EXT)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}${extension})
  file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)

  add_executable(mutant_${name} ${source})
  target_link_libraries(mutant_${name} PRIVATE nbody_program)
  if(extension STREQUAL ".cu")
    hostcuda_target(mutant_${name})
    target_compile_options(mutant_${name} PRIVATE ${NBODY_HOSTCUDA_FLAGS})
  endif()
  add_test(NAME mutants.${name}
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:mutant_${name}> -D GATE=${mutant_CAUGHT_BY}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/check_mutant.cmake)
  set_tests_properties(mutants.${name} PROPERTIES LABELS "mutants;${mutant_STEP}" TIMEOUT 60)
endfunction()
