# Compiles the steps for one ARCHITECTURE with nvcc and ptxas and treats warnings as errors. It
# links no programs, because the preset cuda links them, for one architecture.
if(NOT NVCC)
  message("no nvcc here")
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${BUILD_DIR} -G Ninja
                        -D NBODY_CUDA=ON -D NBODY_CUDA_PROGRAMS=OFF -D NBODY_EXPERIMENTS=OFF
                        -D BUILD_TESTING=OFF -D CMAKE_CUDA_COMPILER=${NVCC}
                        -D NBODY_WARNINGS_ARE_ERRORS=ON
                        -D CMAKE_CUDA_ARCHITECTURES=${ARCHITECTURE}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIR} --target checked_by_nvcc
                COMMAND_ERROR_IS_FATAL ANY)
