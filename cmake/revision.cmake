# Writes nbody::revision(), which returns the revision of the source tree, to SOURCE_FILE, unless
# the file already contains it. A release contains a file with the revision instead of .git, because
# it may be unpacked inside a clone of another repository.
if(EXISTS ${SOURCE_DIR}/REVISION)
  file(STRINGS ${SOURCE_DIR}/REVISION revision LIMIT_COUNT 1)
  set(failed 0)
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
endif()
if(failed)
  set(revision "unknown")
endif()
set(text "#include \"run/program.h\"\n\nconst char* nbody::revision() { return \"${revision}\"; }\n")
set(old "")
if(EXISTS ${SOURCE_FILE})
  file(READ ${SOURCE_FILE} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${SOURCE_FILE} "${text}")
endif()
