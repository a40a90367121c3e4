# nbody_mutant(name STEP step WRONG sentence
#              [CAUGHT_BY gate... [ONLY] | SAYS text] [MODE VARIABLE=value...] [PASSES_PLAIN]
#              [RUN argument...] [DEFINE NAME=value] [FIND text REPLACE text])
#
# A step with one edit, and the tests (check_run.py) that require
#   - in MODE (of hostcuda, see hostcuda/README.md; none: plain) the gates of CAUGHT_BY fail,
#     and no others with ONLY, or hostcuda stops the program with a message that holds SAYS;
#   - in plain mode the mutant passes every gate if PASSES_PLAIN is given, and not if it is not;
#   - the step without the edit passes every gate of the same RUN, in the same MODE and in plain mode.
# Without CAUGHT_BY and SAYS the edit must do no harm: all gates pass.
#
# nbody_build_mutants() makes one program a step from all of its mutants, each in a namespace, and the
# step itself: what they have in common, most of it headers, is then compiled once.
include(edited_source)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(mutant_records ${CMAKE_CURRENT_BINARY_DIR}/records)
file(MAKE_DIRECTORY ${mutant_records})

# ["a", "b"] of a list
function(mutant_json_list variable)
  list(TRANSFORM ARGN REPLACE "^(.+)$" "\"\\1\"")
  list(JOIN ARGN ", " items)
  set(${variable} "[${items}]" PARENT_SCOPE)
endfunction()

function(nbody_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 mutant "PASSES_PLAIN;ONLY" "STEP;WRONG;SAYS;DEFINE;FIND;REPLACE"
    "CAUGHT_BY;MODE;RUN")
  if(NOT mutant_FIND)
    message(FATAL_ERROR "${name}: a mutant needs an edit")
  endif()
  if(NOT mutant_RUN)
    set(mutant_RUN --scenario galaxies --systems 2 --bodies 600 --steps 3)
  endif()
  nbody_mutant_source(${mutant_STEP} ${name} "${mutant_DEFINE}" FIND "${mutant_FIND}"
    REPLACE "${mutant_REPLACE}")
  set(wrong true)
  if(NOT mutant_CAUGHT_BY AND NOT mutant_SAYS)
    set(wrong false)
  endif()
  nbody_mutant_test(${name} ${name})

  nbody_right(STEP ${mutant_STEP} DEFINE ${mutant_DEFINE} RUN ${mutant_RUN} MODE ${mutant_MODE})
endfunction()

# nbody_right(STEP step RUN argument... [MODE VARIABLE=value...] [DEFINE NAME=value])
#
# The step without an edit, in MODE and in plain mode: all gates pass. Once for each run and mode.
function(nbody_right)
  # Also what only a mutant has, so that nothing of a caller's mutant_* is left.
  cmake_parse_arguments(PARSE_ARGV 0 mutant "PASSES_PLAIN;ONLY" "STEP;DEFINE;WRONG;SAYS"
    "CAUGHT_BY;MODE;RUN")
  string(MAKE_C_IDENTIFIER "right_${mutant_DEFINE}" control)
  nbody_mutant_source(${mutant_STEP} ${control} "${mutant_DEFINE}")
  set(wrong false)
  foreach(mode IN ITEMS "${mutant_MODE}" "")
    set(mutant_MODE ${mode})
    string(MD5 run "${control} ${mutant_MODE} ${mutant_RUN}")
    string(SUBSTRING ${run} 0 6 run)
    nbody_mutant_test(right.${mutant_STEP}.${run} ${control})
  endforeach()
endfunction()

# The test of a variant as the mutant_* variables of the caller declare it; once for each name.
function(nbody_mutant_test name variant)
  if(TEST mutants.${name})
    return()
  endif()
  foreach(list CAUGHT_BY MODE RUN)
    mutant_json_list(json_${list} ${mutant_${list}})
  endforeach()
  foreach(flag PASSES_PLAIN ONLY)
    string(TOLOWER "${mutant_${flag}}" json_${flag})
  endforeach()
  set(declaration ${mutant_records}/${name}.declared.json)
  file(CONFIGURE OUTPUT ${declaration} @ONLY CONTENT [[{
  "name": "@name@", "step": "@mutant_STEP@", "variant": "@variant@", "is_wrong": @wrong@,
  "wrong": "@mutant_WRONG@",
  "caught_by": @json_CAUGHT_BY@, "only": @json_ONLY@, "says": "@mutant_SAYS@",
  "mode": @json_MODE@, "passes_plain": @json_PASSES_PLAIN@, "run": @json_RUN@
}
]])
  add_test(NAME mutants.${name}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_run.py ${declaration}
            $<TARGET_FILE:mutants_of_${mutant_STEP}>)
  set_tests_properties(mutants.${name} PROPERTIES
    LABELS "mutants;${mutant_STEP}" TIMEOUT 120 FIXTURES_SETUP mutants_have_run)
endfunction()

# Adds a copy of a step's source to the program of its mutants, once.
function(nbody_mutant_source step name define)
  cmake_parse_arguments(PARSE_ARGV 3 edit "" "FIND;REPLACE" "")
  get_property(known GLOBAL PROPERTY mutants_of_${step})
  if(name IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY mutants_of_${step} ${name})
  set_property(GLOBAL APPEND PROPERTY steps_with_mutants ${step})
  # The namespace is the mutant's; "right" is there for every step.
  set(folder ${step}/${name})
  edited_source(source STEP ${step} NAME ${folder} MAIN nbody::test::mutant_main
    FIND "${edit_FIND}" REPLACE "${edit_REPLACE}")
  set_property(GLOBAL APPEND PROPERTY mutant_sources_of_${step} ${source})

  set(begin "")
  set(end "")
  if(define)
    string(REPLACE "=" " " definition "${define}")
    string(REGEX REPLACE "=.*" "" macro "${define}")
    set(begin "#undef ${macro}\n#define ${definition}\n")
    set(end "#undef ${macro}\n")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY mutant_text_of_${step}
    "${begin}namespace ${name} {\n#include \"${source}\"\n}\n${end}\n")
  set_property(GLOBAL APPEND_STRING PROPERTY mutant_table_of_${step}
    "    {\"${name}\", ${name}::main},\n")
endfunction()

function(nbody_build_mutants)
  get_property(steps GLOBAL PROPERTY steps_with_mutants)
  list(REMOVE_DUPLICATES steps)
  foreach(step IN LISTS steps)
    get_property(sources GLOBAL PROPERTY mutant_sources_of_${step})
    get_property(mutants GLOBAL PROPERTY mutant_text_of_${step})
    get_property(table GLOBAL PROPERTY mutant_table_of_${step})
    list(GET sources 0 first)
    get_filename_component(extension ${first} EXT)
    # Headers are included before the namespaces open, which then find them included already.
    file(GLOB original ${PROJECT_SOURCE_DIR}/${step}/nbody.c*)
    file(STRINGS ${original} headers REGEX "^#include")
    list(JOIN headers "\n" headers)
    set(program mutants_of_${step})
    file(CONFIGURE OUTPUT ${program}${extension} @ONLY CONTENT [[@headers@

#include "mutant_main.h"

@mutants@int main(int argc, char** argv) {
  return nbody::test::main_of({
@table@  }, argc, argv);
}
]])
    add_executable(${program} ${CMAKE_CURRENT_BINARY_DIR}/${program}${extension} ${sources})
    set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
    target_link_libraries(${program} PRIVATE nbody_mutant_main)
    set(flags -O1)
    if(extension STREQUAL ".cu")
      list(PREPEND flags ${NBODY_HOSTCUDA_FLAGS})
      target_link_libraries(${program} PRIVATE hostcuda_cublas)
      hostcuda_target(${program})
    endif()
    target_compile_options(${program} PRIVATE ${flags})  # compiled more often than they run
  endforeach()
endfunction()
