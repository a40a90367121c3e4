# Configures, builds and tests COPY, a copy of hostcuda's folder, as a separate project, to show that
# it needs nothing outside the folder. It builds the target TARGET and runs the tests that match TESTS;
# FILTER selects the cases within them. COPY and its build folder are placed relative to each other as
# hostcuda/ and its tool's build folder are, so ccache has already compiled the library.
cmake_path(SET build NORMALIZE ${COPY}/../build/hostcuda)
set(ENV{GTEST_FILTER} ${FILTER})
foreach(step
    "${CMAKE_COMMAND};-S;${COPY};-B;${build};-G;${GENERATOR};-DBUILD_TESTING=ON;-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_CXX_COMPILER_LAUNCHER=${COMPILER_LAUNCHER};-DCMAKE_CXX_FLAGS=${CXX_FLAGS};-DHOSTCUDA_WARNINGS_ARE_ERRORS=${STRICT};-DPython3_EXECUTABLE=${PYTHON}"
    "${CMAKE_COMMAND};--build;${build};--target;${TARGET};--parallel;2"
    "${CMAKE_CTEST_COMMAND};--test-dir;${build};--output-on-failure;--no-tests=error;--parallel;2;-R;${TESTS}")
  execute_process(COMMAND ${step} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
