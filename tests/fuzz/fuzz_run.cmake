# Fuzzes for SECONDS, starting from CORPUS, which stays unchanged. New inputs and failures go to
# FOUND.
file(REMOVE_RECURSE ${FOUND})
file(MAKE_DIRECTORY ${FOUND}/inputs)
# A normal input takes a millisecond. If one takes 5 s, the target hangs. If a reader requests 256
# MB at once for a few kilobytes of input, it trusts a false header.
execute_process(
  COMMAND ${FUZZER} -max_total_time=${SECONDS} -timeout=5 -malloc_limit_mb=256 -rss_limit_mb=1024
          -max_len=10000 -close_fd_mask=1 -print_final_stats=1 -artifact_prefix=${FOUND}/
          ${FOUND}/inputs ${CORPUS}
  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
string(REGEX MATCHALL "stat::[^\n]*" statistics "${text}")
list(JOIN statistics "\n" statistics)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${text}\nThe input is in ${FOUND}")
endif()
# If the fuzzer has run no inputs, the absence of failures proves nothing.
if(NOT statistics MATCHES "stat::number_of_executed_units: +[1-9][0-9][0-9]")
  message(FATAL_ERROR "fewer than 100 inputs were run:\n${text}")
endif()
message("${statistics}")
