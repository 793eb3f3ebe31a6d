# rlc_layer(NAME [USES layer...] [PUBLIC_LIBS target...] [LIBS target...] [TEST_USES layer...] [TEST_LIBS target...]
#           [WHOLE_TEST] [SEPARATE])
#
#   *.cc        (also in sub-folders) become the static library rlc_NAME
#   *_test.cc   become the program rlc_NAME_test, each of its cases one test of ctest; they get GoogleTest, rapidcheck,
#               and rlc_testing_NAME if there is one
#   USES        layers; default: the layer's row in scripts/layers.json, which scripts/check_layers.py enforces
#   PUBLIC_LIBS outside libraries that the layer's headers include; LIBS those of its .cc files only
#   TEST_USES, TEST_LIBS   what the tests need beyond that
#   SEPARATE    its files use one name for different things, so several of them cannot be compiled at once, as the presets
#               for whole builds do (CMAKE_UNITY_BUILD: a fifth of the time)
#   WHOLE_TEST  the test program is one test of ctest (for programs that are slow to start)
#
# Files named *_bench.cc belong to bench/CMakeLists.txt.
function(rlc_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WHOLE_TEST;SEPARATE" "" "USES;PUBLIC_LIBS;LIBS;TEST_USES;TEST_LIBS")
  if(arg_SEPARATE)
    set(CMAKE_UNITY_BUILD OFF)
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rlc_layer(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT DEFINED arg_USES)
    rlc_table_row(${name} arg_USES)
  endif()
  file(GLOB_RECURSE all CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  rlc_layer_targets(uses ${arg_USES})
  if(sources)
    add_library(rlc_${name} STATIC ${sources})
    target_link_libraries(rlc_${name} PUBLIC rlc_options ${uses} ${arg_PUBLIC_LIBS} PRIVATE ${arg_LIBS})
  else()
    add_library(rlc_${name} INTERFACE)
    target_link_libraries(rlc_${name} INTERFACE rlc_options ${uses} ${arg_PUBLIC_LIBS} ${arg_LIBS})
  endif()
  set_property(GLOBAL APPEND PROPERTY RLC_LAYERS ${name})

  if(RLC_TESTS AND tests)
    rlc_layer_targets(test_uses testing_${name} ${arg_TEST_USES})
    set(whole "")
    if(arg_WHOLE_TEST)
      set(whole WHOLE)
    endif()
    rlc_test(rlc_${name}_test ${whole} SOURCES ${tests} LIBS ${test_uses} rlc_${name} ${arg_TEST_LIBS} ${arg_LIBS})
  endif()
endfunction()

# rlc_testing(LAYER SOURCES file... [USES layer...] [LIBS target...]): rlc_testing_LAYER, helpers of the tests of LAYER.
function(rlc_testing layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LIBS")
  if(NOT RLC_TESTS)
    return()
  endif()
  rlc_layer_targets(uses ${arg_USES})
  set(libraries rlc_options ${uses} ${arg_LIBS} GTest::gmock rapidcheck_gtest rapidcheck)
  if(arg_SOURCES)
    add_library(rlc_testing_${layer} STATIC ${arg_SOURCES})
    target_link_libraries(rlc_testing_${layer} PUBLIC ${libraries})
  else()
    add_library(rlc_testing_${layer} INTERFACE)
    target_link_libraries(rlc_testing_${layer} INTERFACE ${libraries})
  endif()
endfunction()

# rlc_test(NAME [WHOLE] SOURCES file... LIBS target...): a GoogleTest program; each of its cases is one test of ctest.
function(rlc_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WHOLE" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock_main rapidcheck_gtest rapidcheck)
  target_sources(${name} PRIVATE "${CMAKE_BINARY_DIR}/test_paths.cc")  # rlc/testing/paths.h
  # Tests are compiled far more often than they run; what they test keeps its own optimization.
  target_compile_options(${name} PRIVATE -O0)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  rlc_sanitizer_options(${name})
  if(arg_WHOLE)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES TIMEOUT 1200)
  else()
    gtest_discover_tests(${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 600)
  endif()
endfunction()

# rlc_program(NAME SOURCES file... LIBS target...): a program at the top of the build folder.
function(rlc_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE rlc_options ${arg_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  rlc_sanitizer_options(${name})
endfunction()

# The targets of layers by name, in whatever order the layers are added.
function(rlc_layer_targets out)
  set(targets "")
  foreach(layer IN LISTS ARGN)
    list(APPEND targets "$<TARGET_NAME_IF_EXISTS:rlc_${layer}>")
  endforeach()
  set(${out} "${targets}" PARENT_SCOPE)
endfunction()

# The layers that the table lets NAME use.
function(rlc_table_row name out)
  set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/scripts/layers.json")
  file(READ "${CMAKE_SOURCE_DIR}/scripts/layers.json" table)
  string(JSON count LENGTH "${table}" layers ${name} uses)
  set(row "")
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
      string(JSON layer GET "${table}" layers ${name} uses ${index})
      list(APPEND row ${layer})
    endforeach()
  endif()
  set(${out} "${row}" PARENT_SCOPE)
endfunction()

# Options of the sanitizers' run time, with the reasons, are compiled in: a program behaves the same wherever it is run.
function(rlc_sanitizer_options program)
  if(RLC_SANITIZE)
    target_sources(${program} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/sanitizer_options.cc")
  endif()
endfunction()

configure_file("${CMAKE_SOURCE_DIR}/cmake/test_paths.cc.in" "${CMAKE_BINARY_DIR}/test_paths.cc" @ONLY)
