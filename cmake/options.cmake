# Warnings, sanitizers, linker, ccache: one place for how everything is compiled.
add_library(slipring_options INTERFACE)
target_include_directories(slipring_options INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
target_compile_features(slipring_options INTERFACE cxx_std_20)
target_compile_options(slipring_options INTERFACE
  $<BUILD_INTERFACE:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wno-missing-field-initializers>)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths relative to the checkout, so that another clone on the same machine finds the objects of this one.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM)
  add_link_options(-fuse-ld=lld)
endif()

set(slipring_sanitize "${SLIPRING_SANITIZE}")
if(SLIPRING_FUZZ)
  list(APPEND slipring_sanitize fuzzer-no-link)
  string(REPLACE ";" "," slipring_sanitize "${slipring_sanitize}")
endif()
if(slipring_sanitize)
  add_compile_options(-fsanitize=${slipring_sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${slipring_sanitize})
endif()
