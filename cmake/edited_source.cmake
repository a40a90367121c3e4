# edited_source(variable STEP step | FILE path NAME name FIND text... REPLACE text...)
#
# Makes a copy of a step's source, or of another file of the repository, with the declared edits, in a folder NAME, and puts its path into `variable`. The copy
# of a step calls itself NAME. Each text must occur exactly once; otherwise a test fails and the build of the copy stops, so copies cannot become outdated. The
# build makes the copy, so that a changed step does not need a new configuration.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(edited_source_script ${CMAKE_CURRENT_LIST_DIR}/edit_source.py)

function(edited_source variable)
  cmake_parse_arguments(PARSE_ARGV 1 edit "" "STEP;FILE;NAME" "FIND;REPLACE")
  set(original ${PROJECT_SOURCE_DIR}/${edit_FILE})
  if(edit_STEP)
    file(GLOB original ${PROJECT_SOURCE_DIR}/${edit_STEP}/nbody.c*)
  endif()
  get_filename_component(file ${original} NAME)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${edit_NAME})
  set(copy ${folder}/${file})
  # Texts are passed in files: quotes and brackets would not survive a command line.
  set(count 0)
  set(texts)
  foreach(find replace IN ZIP_LISTS edit_FIND edit_REPLACE)
    file(CONFIGURE OUTPUT ${folder}/find_${count}.txt CONTENT "${find}" @ONLY)
    file(CONFIGURE OUTPUT ${folder}/replace_${count}.txt CONTENT "${replace}" @ONLY)
    list(APPEND texts ${folder}/find_${count}.txt ${folder}/replace_${count}.txt)
    math(EXPR count "${count} + 1")
  endforeach()
  set(edit ${Python3_EXECUTABLE} ${edited_source_script} ${original} ${edit_NAME} ${folder} ${count})
  execute_process(COMMAND ${edit} RESULT_VARIABLE misfit ERROR_VARIABLE why)
  if(misfit)  # configuring must not fail; the tests report the misfit
    message(WARNING "${edit_NAME}: ${why}")
    add_test(NAME edits.${edit_NAME} COMMAND ${edit})
  endif()
  add_custom_command(OUTPUT ${copy} COMMAND ${edit} ${copy}
    DEPENDS ${original} ${texts} ${edited_source_script} VERBATIM)
  set(${variable} ${copy} PARENT_SCOPE)
endfunction()
