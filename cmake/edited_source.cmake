# edited_source(variable STEP step NAME name FIND text REPLACE text [FROM file])
#
# A copy of a step's source with one declared edit, for mutants and for variants to be
# measured; its path is put into `variable`. The text must occur exactly once, or the configuration
# stops: copies cannot rot. NAME is what the program calls
# itself. FROM a file that is an edited copy already, to make several edits.
function(edited_source variable)
  cmake_parse_arguments(PARSE_ARGV 1 edit "" "STEP;FIND;REPLACE;NAME;FROM" "")
  file(GLOB original ${PROJECT_SOURCE_DIR}/${edit_STEP}/nbody.c*)
  if(edit_FROM)
    set(original ${edit_FROM})
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${original})
  file(READ ${original} text)
  string(FIND "${text}" "${edit_FIND}" first)
  string(FIND "${text}" "${edit_FIND}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "${edit_NAME}: the text to replace must occur once in ${original}: ${edit_FIND}")
  endif()
  string(REPLACE "${edit_FIND}" "${edit_REPLACE}" text "${text}")
  string(REPLACE ".name = \"${edit_STEP}\"" ".name = \"${edit_NAME}\"" text "${text}")
  get_filename_component(extension ${original} EXT)
  set(copy ${CMAKE_CURRENT_BINARY_DIR}/${edit_NAME}/nbody${extension})
  file(CONFIGURE OUTPUT ${copy} CONTENT "${text}" @ONLY)
  set(${variable} ${copy} PARENT_SCOPE)
endfunction()
