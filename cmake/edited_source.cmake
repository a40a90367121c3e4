# edited_source(variable STEP step NAME name FIND text REPLACE text)
#
# A copy of a step's source with one declared edit, which calls itself NAME; its path is put into
# `variable`. The text must occur exactly once, or the configuration and the build stop: copies cannot
# rot. The copy is made by the build, so that a change of a step does not configure everything again.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(edited_source_script ${CMAKE_CURRENT_LIST_DIR}/edit_source.py)

function(edited_source variable)
  cmake_parse_arguments(PARSE_ARGV 1 edit "" "STEP;FIND;REPLACE;NAME" "")
  file(GLOB original ${PROJECT_SOURCE_DIR}/${edit_STEP}/nbody.c*)
  get_filename_component(extension ${original} EXT)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${edit_NAME})
  set(copy ${folder}/nbody${extension})
  # Texts travel in files: on a command line their quotes and brackets would not survive.
  file(CONFIGURE OUTPUT ${folder}/find.txt CONTENT "${edit_FIND}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/replace.txt CONTENT "${edit_REPLACE}" @ONLY)
  set(edit ${Python3_EXECUTABLE} ${edited_source_script} ${original} ${edit_NAME} ${folder})
  execute_process(COMMAND ${edit} COMMAND_ERROR_IS_FATAL ANY)
  add_custom_command(OUTPUT ${copy} COMMAND ${edit} ${copy}
    DEPENDS ${original} ${folder}/find.txt ${folder}/replace.txt ${edited_source_script} VERBATIM)
  set(${variable} ${copy} PARENT_SCOPE)
endfunction()
