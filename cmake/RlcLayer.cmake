# rlc_layer(NAME [USES layer...] [PUBLIC_LIBS target...] [LIBS target...] [TEST_USES layer...] [TEST_LIBS target...])
#
#   *.cc        (also in sub-folders) become the static library rlc_NAME
#   *_test.cc   become the program rlc_NAME_test, registered with ctest case by case
#   USES        layers of the table in scripts/layers.json; scripts/check_layers.py compares
#   PUBLIC_LIBS outside libraries that the layer's headers include; LIBS those of its .cc files only
#   TEST_USES, TEST_LIBS   what the tests need beyond that (GoogleTest and rapidcheck are always there)
#
# *_bench.cc files belong to bench/CMakeLists.txt, *_main.cc to nobody (programs name them).
function(rlc_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;PUBLIC_LIBS;LIBS;TEST_USES;TEST_LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rlc_layer(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  file(GLOB_RECURSE all CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|main)\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  list(TRANSFORM arg_USES PREPEND rlc_)
  list(TRANSFORM arg_TEST_USES PREPEND rlc_)
  if(sources)
    add_library(rlc_${name} STATIC ${sources})
    target_link_libraries(rlc_${name} PUBLIC rlc_options ${arg_USES} ${arg_PUBLIC_LIBS} PRIVATE ${arg_LIBS})
  else()  # headers only, so far
    add_library(rlc_${name} INTERFACE)
    target_link_libraries(rlc_${name} INTERFACE rlc_options ${arg_USES} ${arg_PUBLIC_LIBS} ${arg_LIBS})
  endif()
  set_property(GLOBAL APPEND PROPERTY RLC_LAYERS ${name})

  if(RLC_TESTS AND tests)
    rlc_test(rlc_${name}_test SOURCES ${tests} LIBS rlc_${name} ${arg_TEST_USES} ${arg_TEST_LIBS} ${arg_LIBS})
  endif()
endfunction()

# rlc_test(NAME SOURCES file... LIBS target...): a GoogleTest program; each of its cases is one test of ctest.
function(rlc_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock_main rapidcheck_gtest rapidcheck)
  target_compile_definitions(${name} PRIVATE "RLC_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"" "RLC_BINARY_DIR=\"${CMAKE_BINARY_DIR}\"")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  set_property(GLOBAL APPEND PROPERTY RLC_TEST_PROGRAMS ${name})
  gtest_discover_tests(${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 600 ENVIRONMENT "${RLC_TEST_ENVIRONMENT}")
endfunction()

# rlc_program(NAME SOURCES file... LIBS target...): a program at the top of the build folder.
function(rlc_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE rlc_options ${arg_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endfunction()
