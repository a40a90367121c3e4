# Use ${nbody_python} SCRIPT for scripts that import nbody_tools, or ${nbody_python} -m nbody_tools
# COMMAND.
# Like ./nbody (find_python in tools/setup.sh), this file takes the first interpreter that has the
# libraries of the tools. The first python3 on the path may be in an environment without them.
if(NOT Python3_EXECUTABLE)
  foreach(candidate IN ITEMS $ENV{PYTHON} python3 /usr/bin/python3)
    execute_process(
      COMMAND ${candidate} -c "import sys, numpy, matplotlib, jinja2; print(sys.executable)"
      OUTPUT_VARIABLE found ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(found)
      set(Python3_EXECUTABLE ${found} CACHE FILEPATH "Python with numpy, matplotlib and Jinja2")
      break()
    endif()
  endforeach()
  if(NOT Python3_EXECUTABLE)
    message(WARNING "No python3 has numpy, matplotlib and Jinja2, so tests of the tools will fail: "
      "./nbody setup installs them, and PYTHON=/path/to/python3 names another interpreter.")
  endif()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(nbody_python ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/tools ${Python3_EXECUTABLE})

# nbody_test(name "label;label" seconds [PROPERTY value]... COMMAND word...)
# nbody_test(name "label;label" seconds [PROPERTY value]... PYTHON script.py|-m module word...)
#
# Adds a test with its labels, its time limit in seconds and further properties. A script is a file
# of the calling folder and may import nbody_tools.
function(nbody_test name labels seconds)
  cmake_parse_arguments(PARSE_ARGV 3 test "" "" "COMMAND;PYTHON")
  if(test_PYTHON)
    list(TRANSFORM test_PYTHON PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[a-z_]+\\.py$")
    set(test_COMMAND ${Python3_EXECUTABLE} ${test_PYTHON})
    list(APPEND test_UNPARSED_ARGUMENTS ENVIRONMENT_MODIFICATION PYTHONPATH=set:${PROJECT_SOURCE_DIR}/tools)
  endif()
  add_test(NAME ${name} COMMAND ${test_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${seconds} ${test_UNPARSED_ARGUMENTS})
endfunction()

# Without NBODY_ALL_TESTS, `nbody_proved` lists the tests that have passed with these same files, by
# tests/nightly.csv.
if(NBODY_ALL_TESTS OR NOT BUILD_TESTING)
  set(nbody_proved)
else()
  execute_process(COMMAND ${nbody_python} -m nbody_tools.nightly.proved
    OUTPUT_VARIABLE nbody_proved OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "Thorough tests that have passed with these same files run only nightly")
endif()

# nbody_if_changed(test... [PROGRAMS target...])
#
# Makes these tests of the calling folder nightly tests that the quick tests run, too, if a file of
# their subject (tests/nightly/subjects.toml) has changed since they last passed. The quick tests of
# every step, of the emulator and of the tools do not depend on changes. The programs serve only these
# tests, and are not built if none of the tests is run.
function(nbody_if_changed)
  cmake_parse_arguments(PARSE_ARGV 0 changed "" "" "PROGRAMS")
  set(left_out FALSE)
  set(run FALSE)
  foreach(test IN LISTS changed_UNPARSED_ARGUMENTS)
    if(NOT TEST ${test})
      continue()  # this build does not have the test or its programs
    endif()
    get_test_property(${test} LABELS labels)
    list(APPEND labels if_changed)
    if(test IN_LIST nbody_proved)
      list(APPEND labels nightly)
      set(left_out TRUE)
    else()
      set(run TRUE)
    endif()
    set_tests_properties(${test} PROPERTIES LABELS "${labels}")
  endforeach()
  if(left_out AND NOT run AND changed_PROGRAMS)
    set_target_properties(${changed_PROGRAMS} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()
