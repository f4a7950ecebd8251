# SPDX-License-Identifier: Apache-2.0
# assay_library(ROOM SOURCES ... [PUBLIC ...] [PRIVATE ...]): one static library per room.
# assay_test(ROOM SOURCES ... [ALONE ...] [LINK ...] [TIMEOUT seconds] [OPTIMIZED]): the room's unit tests, one ctest entry
#   per case; OPTIMIZED for those that compute much. Sources are compiled six at a time (ASSAY_TOGETHER), those of ALONE by
#   themselves: they have names that others have too, or replace operator new.
# assay_fuzzer(NAME SOURCE LINK ...): a libFuzzer target with its seeds in fuzz/corpus/NAME.
# ASSAY_NEEDS_ONNXRUNTIME: properties of a test that runs npm's onnxruntime-node, in the folder that ASSAY_ORT names.

set(ASSAY_NEEDS_ONNXRUNTIME
  FIXTURES_REQUIRED onnxruntime ENVIRONMENT ASSAY_ORT=${CMAKE_BINARY_DIR}/onnxruntime)

add_library(assay_flags INTERFACE)
target_compile_options(assay_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(assay_flags INTERFACE -Wthread-safety)
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Tests that count allocations replace operator new, through which it sees only half; and of std::regex
    # it thinks that parts are never set.
    target_compile_options(assay_flags INTERFACE -Wno-mismatched-new-delete -Wno-maybe-uninitialized)
  endif()
  if(ASSAY_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(assay_flags INTERFACE -Wno-tsan)  # Asio has fences, which it does not follow
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # Clang 14 cannot compile coroutines with this part of "undefined".
    target_compile_options(assay_flags INTERFACE -fno-sanitize=function)
  endif()
endif()
if(ASSAY_FUZZ)
  target_compile_options(assay_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(assay_library room)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(assay_${room} STATIC ${ARG_SOURCES})
  add_library(assay::${room} ALIAS assay_${room})
  target_include_directories(assay_${room} PUBLIC include PRIVATE .)
  target_link_libraries(assay_${room} PUBLIC ${ARG_PUBLIC} PRIVATE assay_flags ${ARG_PRIVATE})
endfunction()

function(assay_test room)
  if(NOT ASSAY_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "OPTIMIZED" "TIMEOUT" "SOURCES;ALONE;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${room}_test ${ARG_SOURCES} ${ARG_ALONE})
  # Most of the time goes into the headers that all of them include.
  set_target_properties(${room}_test PROPERTIES UNITY_BUILD ${ASSAY_TOGETHER} UNITY_BUILD_BATCH_SIZE 6)
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(${room}_test PRIVATE assay_flags assay::${room} ${ARG_LINK} GTest::gtest_main)
  target_include_directories(${room}_test PRIVATE .)
  # Most tests run for milliseconds and are compiled for seconds.
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${room}_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  endif()
  target_compile_definitions(${room}_test PRIVATE
    ASSAY_TESTDATA="${CMAKE_CURRENT_SOURCE_DIR}/testdata"
    ASSAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    ASSAY_BINARY_DIR="${CMAKE_BINARY_DIR}")
  include(GoogleTest)
  gtest_discover_tests(${room}_test TEST_PREFIX "${room}." DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

function(assay_fuzzer name source)
  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE assay_flags ${ARGN})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()
