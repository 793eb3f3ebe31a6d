# Compiler, linker and cache settings of all our own code: target rlc_options, which rlc_layer and rlc_program link.

# Objects are shared between build folders and between clones: paths below the source folder are hashed relative, and the
# folder that the compiler runs in is not hashed.
find_program(RLC_CCACHE ccache)
if(RLC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(RLC_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 ${RLC_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RLC_LAUNCHER})
  set(CMAKE_C_COMPILER_LAUNCHER ${RLC_LAUNCHER})
endif()

find_program(RLC_MOLD mold)
if(RLC_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(rlc_options INTERFACE)
target_include_directories(rlc_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(rlc_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # {.phase = "search"} leaves the other fields at their defaults, which is the point.
  -Wno-missing-field-initializers
  # Paths in messages and in debug information start at the source folder, wherever that is.
  "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports uses after inlining of library code that cannot happen (std::string, std::vector, std::optional).
  target_compile_options(rlc_options INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-free-nonheap-object)
  if(CMAKE_UNITY_BUILD)
    # It takes the .cc files that it compiles together for headers.
    target_compile_options(rlc_options INTERFACE -Wno-subobject-linkage)
  endif()
else()
  # -Wpedantic of clang objects to the ##__VA_ARGS__ of library macros; std::stable_sort of libstdc++ 12 uses what it calls
  # deprecated itself.
  target_compile_options(rlc_options INTERFACE -Wno-gnu-zero-variadic-macro-arguments -Wno-implicit-int-float-conversion
    -Wno-deprecated-declarations)
endif()

if(RLC_SANITIZE)
  # Everywhere, so that all of one program agrees; a finding is the end of the program.
  add_compile_options(-fsanitize=${RLC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RLC_SANITIZE})
endif()
