# Passes only if PROGRAM exits 1 and says that GATE failed. 2000 bodies: more than one block's worth,
# and the last tile is neither full nor empty.
execute_process(COMMAND ${PROGRAM} --scenario galaxies --systems 2 --bodies 2000 --steps 3
                RESULT_VARIABLE exit_code OUTPUT_VARIABLE output ERROR_VARIABLE error)
message("${output}${error}")
if(NOT exit_code EQUAL 1)
  message(FATAL_ERROR "a wrong program must fail its validation with exit code 1, not ${exit_code}")
endif()
if(NOT output MATCHES "\n *${GATE} [^\n]*FAIL")
  message(FATAL_ERROR "gate ${GATE} did not notice")
endif()
