# nbody_mutant(name STEP step CAUGHT_BY gate FIND text REPLACE text)
#
# Builds the step with the one edit made, as the step is built, and adds a test that passes only if
# the validator rejects it and names the gate.
include(edited_source)

function(nbody_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 mutant "" "STEP;CAUGHT_BY;FIND;REPLACE" "")
  edited_source(source STEP ${mutant_STEP} NAME ${name} FIND "${mutant_FIND}"
    REPLACE "${mutant_REPLACE}")
  add_executable(mutant_${name} ${source})
  target_link_libraries(mutant_${name} PRIVATE nbody_program)
  if(source MATCHES "\\.cu$")
    hostcuda_target(mutant_${name})
    target_compile_options(mutant_${name} PRIVATE ${NBODY_HOSTCUDA_FLAGS})
  endif()
  add_test(NAME mutants.${name}
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:mutant_${name}> -D GATE=${mutant_CAUGHT_BY}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/check_mutant.cmake)
  set_tests_properties(mutants.${name} PROPERTIES LABELS "mutants;${mutant_STEP}" TIMEOUT 60)
endfunction()
