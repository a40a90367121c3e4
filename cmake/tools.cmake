# ${nbody_python} SCRIPT, for scripts that import nbody_tools; ${nbody_python} -m nbody_tools COMMAND.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(nbody_python ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/tools ${Python3_EXECUTABLE})
