# edited_source(variable STEP step NAME name [FIND text REPLACE text] [MAIN function])
#
# A copy of a step's source with one declared edit, for mutants and for variants to be measured; its
# path is put into `variable`. The text must occur exactly once, or the configuration and the build
# stop: copies cannot rot. NAME is what the program calls itself; MAIN takes the place of
# nbody::step_main in its main(). The copy is made when something is built from it, so that a change
# of a step does not configure everything again.
set(edited_source_script ${CMAKE_CURRENT_LIST_DIR}/edit_source.cmake)

function(edited_source variable)
  cmake_parse_arguments(PARSE_ARGV 1 edit "" "STEP;FIND;REPLACE;NAME;MAIN" "")
  file(GLOB original ${PROJECT_SOURCE_DIR}/${edit_STEP}/nbody.c*)
  get_filename_component(extension ${original} EXT)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${edit_NAME})
  set(copy ${folder}/nbody${extension})
  # Texts travel in files: on a command line their quotes and brackets would not survive.
  file(CONFIGURE OUTPUT ${folder}/find.txt CONTENT "${edit_FIND}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/replace.txt CONTENT "${edit_REPLACE}" @ONLY)
  set(make_copy ${CMAKE_COMMAND} -D ORIGINAL=${original} -D FOLDER=${folder} -D COPY=${copy}
      -D STEP=${edit_STEP} -D NAME=${edit_NAME} -D MAIN=${edit_MAIN})
  execute_process(COMMAND ${make_copy} -D ONLY_CHECK=ON -P ${edited_source_script}
                  COMMAND_ERROR_IS_FATAL ANY)
  add_custom_command(OUTPUT ${copy} COMMAND ${make_copy} -P ${edited_source_script}
    DEPENDS ${original} ${folder}/find.txt ${folder}/replace.txt ${edited_source_script} VERBATIM)
  set(${variable} ${copy} PARENT_SCOPE)
endfunction()
