# Configures and builds the steps with nvcc for one ARCHITECTURE, warnings as errors.
if(NOT NVCC)
  message("no nvcc here")
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${BUILD_DIR} -G Ninja
                        -D NBODY_CUDA=ON -D BUILD_TESTING=OFF -D CMAKE_CUDA_COMPILER=${NVCC}
                        -D NBODY_WARNINGS_ARE_ERRORS=ON
                        -D CMAKE_CUDA_ARCHITECTURES=${ARCHITECTURE}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIR} COMMAND_ERROR_IS_FATAL ANY)
