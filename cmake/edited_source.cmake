# edited_source(variable STEP step | FILE path NAME name FIND text... REPLACE text...)
#
# Copies a step's source, or another file of the repository, to a folder NAME with the declared
# edits applied, and sets `variable` to the path of the copy. The copy of a step uses NAME as its
# program name. Each text to replace must occur exactly once. Otherwise a test fails and building
# the copy stops, so that copies cannot become outdated. The copy is made by the build, so that a
# changed step does not need a new configuration.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(edited_source_script ${PROJECT_SOURCE_DIR}/tools/nbody_tools/edits.py)

function(edited_source variable)
  cmake_parse_arguments(PARSE_ARGV 1 edit "" "STEP;FILE;NAME" "FIND;REPLACE")
  set(original ${PROJECT_SOURCE_DIR}/${edit_FILE})
  if(edit_STEP)
    file(GLOB original ${PROJECT_SOURCE_DIR}/${edit_STEP}/nbody.c*)
  endif()
  get_filename_component(file ${original} NAME)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${edit_NAME})
  set(copy ${folder}/${file})
  # The texts are passed in files, because quotes and brackets would not survive on a command line.
  set(count 0)
  set(texts)
  foreach(find replace IN ZIP_LISTS edit_FIND edit_REPLACE)
    file(CONFIGURE OUTPUT ${folder}/find_${count}.txt CONTENT "${find}" @ONLY)
    file(CONFIGURE OUTPUT ${folder}/replace_${count}.txt CONTENT "${replace}" @ONLY)
    list(APPEND texts ${folder}/find_${count}.txt ${folder}/replace_${count}.txt)
    math(EXPR count "${count} + 1")
  endforeach()
  set(edit ${Python3_EXECUTABLE} ${edited_source_script} ${original} ${edit_NAME} ${folder} ${count})
  if(BUILD_TESTING)
    execute_process(COMMAND ${edit} RESULT_VARIABLE misfit ERROR_VARIABLE why)
    if(misfit)  # configuring must not fail, so the tests report the misfit
      message(WARNING "${edit_NAME}: ${why}")
      add_test(NAME edits.${edit_NAME} COMMAND ${edit})
    endif()
  endif()
  add_custom_command(OUTPUT ${copy} COMMAND ${edit} ${copy}
    DEPENDS ${original} ${texts} ${edited_source_script} VERBATIM)
  set(${variable} ${copy} PARENT_SCOPE)
endfunction()
