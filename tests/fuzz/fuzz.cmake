# nbody_fuzz_target(name source...) adds corpus_NAME and, if clang has libFuzzer, the nightly
# fuzz_NAME. nbody_fuzz_corpus(folder target) adds the test fuzz.FOLDER.corpus. nbody_fuzz(folder
# target) adds fuzz.FOLDER.corpus and the nightly test fuzz.FOLDER.

set(NBODY_LIBFUZZER OFF)
# A sanitizer build runs the corpus with its own sanitizers; only the usual build fuzzes.
if(NBODY_CLANGXX AND NOT NBODY_SANITIZE)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/probe.cpp
    "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n")
  execute_process(
    COMMAND ${NBODY_CLANGXX} -fsanitize=fuzzer,address,undefined probe.cpp -o probe
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} RESULT_VARIABLE probe OUTPUT_QUIET ERROR_QUIET)
  if(probe EQUAL 0)
    set(NBODY_LIBFUZZER ON)
  endif()
endif()

function(nbody_fuzz_target name)
  add_executable(corpus_${name} ${name}_fuzzer.cpp run_corpus.cpp)
  target_link_libraries(corpus_${name} PRIVATE nbody_gadget nbody_warnings)
  target_include_directories(corpus_${name} PRIVATE ${common})
  nbody_compile_quickly(corpus_${name})
  if(NOT NBODY_LIBFUZZER)
    return()
  endif()

  # These sources are compiled again, because clang's instrumentation guides libFuzzer. All other
  # code comes unchanged from the library. CMake has one compiler per language, but a launcher can
  # replace it.
  list(TRANSFORM ARGN PREPEND ${common}/)
  list(TRANSFORM ARGN APPEND .cpp)
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${name}_fuzzer.cpp ${ARGN})
  set(launcher sh ${CMAKE_CURRENT_SOURCE_DIR}/with_clang.sh ${NBODY_CLANGXX})
  set(cached_launcher ${launcher} ${NBODY_CCACHE})
  set_target_properties(fuzz_${name} PROPERTIES
    CXX_COMPILER_LAUNCHER "${cached_launcher}" CXX_LINKER_LAUNCHER "${launcher}")
  target_include_directories(fuzz_${name} PRIVATE ${common})
  target_link_libraries(fuzz_${name} PRIVATE nbody_gadget nbody_warnings CLI11::CLI11
    nlohmann_json::nlohmann_json)
  target_compile_options(fuzz_${name} PRIVATE -g1 -O1 -w
    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  set_target_properties(fuzz_${name} PROPERTIES UNITY_BUILD ON)
  nbody_test(fuzz.build_${name} "fuzz;nightly" 600 RUN_SERIAL ON FIXTURES_SETUP fuzz_${name}
    COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target fuzz_${name})
endfunction()

function(nbody_fuzz_corpus folder target)
  nbody_test(fuzz.${folder}.corpus "unit;fuzz" 60
    COMMAND corpus_${target} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${folder})
endfunction()

function(nbody_fuzz folder target)
  nbody_fuzz_corpus(${folder} ${target})
  if(NBODY_LIBFUZZER)
    nbody_test(fuzz.${folder} "fuzz;nightly" 1200 FIXTURES_REQUIRED fuzz_${target}
      COMMAND ${CMAKE_COMMAND} -D FUZZER=$<TARGET_FILE:fuzz_${target}>
      -D CORPUS=${CMAKE_CURRENT_SOURCE_DIR}/corpus/${folder} -D SECONDS=${NBODY_FUZZ_SECONDS}
      -D FOUND=${CMAKE_CURRENT_BINARY_DIR}/found/${folder} -P ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_run.cmake)
  else()
    nbody_test(fuzz.${folder} "fuzz;nightly" 1200 SKIP_REGULAR_EXPRESSION "skipped: no clang"
      COMMAND ${CMAKE_COMMAND} -E echo
      "skipped: no clang++ with libFuzzer here (Debian: clang), or a sanitizer build")
  endif()
endfunction()
