# Configures, builds and tests COPY, a copy of this folder, as a project of its own (the target TARGET, the
# tests that match TESTS): nothing outside the folder is needed. In the build folder that its tool uses,
# where the libraries are.
set(build ${COPY}/build/hostcuda)
foreach(step
    "${CMAKE_COMMAND};-S;${COPY};-B;${build};-G;${GENERATOR};-DBUILD_TESTING=ON;-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_CXX_COMPILER_LAUNCHER=${COMPILER_LAUNCHER};-DCMAKE_CXX_FLAGS=${CXX_FLAGS};-DPython3_EXECUTABLE=${PYTHON}"
    "${CMAKE_COMMAND};--build;${build};--target;${TARGET};--parallel;2"
    "${CMAKE_CTEST_COMMAND};--test-dir;${build};--output-on-failure;--no-tests=error;--parallel;2;-R;${TESTS}")
  execute_process(COMMAND ${step} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
