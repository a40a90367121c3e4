# Copies FOLDER to COPY/source, and configures, builds and tests it there (the target TARGET, the
# tests that match TESTS): nothing outside the folder is needed. Built anew each time, so that nothing left from an earlier run can help.
file(REMOVE_RECURSE ${COPY})
file(COPY ${FOLDER}/ DESTINATION ${COPY}/source PATTERN __pycache__ EXCLUDE)
foreach(step
    "${CMAKE_COMMAND};-S;${COPY}/source;-B;${COPY}/build;-G;${GENERATOR};-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_CXX_COMPILER_LAUNCHER=${COMPILER_LAUNCHER};-DCMAKE_CXX_FLAGS=${CXX_FLAGS};-DPython3_EXECUTABLE=${PYTHON}"
    "${CMAKE_COMMAND};--build;${COPY}/build;--target;${TARGET};--parallel;2"
    "${CMAKE_CTEST_COMMAND};--test-dir;${COPY}/build;--output-on-failure;--no-tests=error;--parallel;2;-R;${TESTS}")
  execute_process(COMMAND ${step} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
