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
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM)
  add_link_options(-fuse-ld=lld)
endif()

if(SLIPRING_SANITIZE)
  add_compile_options(-fsanitize=${SLIPRING_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${SLIPRING_SANITIZE})
endif()

# Sources in batches, each compiled as one (continuous integration): headers are read and templates instantiated once a
# batch. Off for daily work, where a change of one file compiles that file.
option(SLIPRING_UNITY "compile sources in batches" OFF)
if(SLIPRING_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
endif()

# Precompiled headers for builds from nothing (continuous integration): what most sources include is read once. Off for
# daily work, where ccache does more: objects that were made with such a header are another checkout's misses.
option(SLIPRING_PCH "precompile common headers" OFF)
set(slipring_pch_library <algorithm> <chrono> <deque> <functional> <map> <memory> <mutex> <optional> <set> <string>
  <string_view> <thread> <unordered_map> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
set(slipring_pch_hot ${slipring_pch_library})
set(slipring_pch_test ${slipring_pch_library} <gtest/gtest.h> <gmock/gmock.h>)

# slipring_precompile(target kind): kind is library, hot (a library that is optimised everywhere) or test.
function(slipring_precompile target kind)
  if(NOT SLIPRING_PCH)
    return()
  endif()
  set(holder slipring_pch_${kind}_holder)
  if(NOT TARGET ${holder})
    set(source ${CMAKE_BINARY_DIR}/${holder}.cc)
    # A program's code is compiled in another way than a library's, so tests have a holder that is a program.
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n")
    if(kind STREQUAL test)
      add_executable(${holder} ${source})
      target_link_libraries(${holder} PRIVATE GTest::gtest GTest::gmock)
    else()
      add_library(${holder} OBJECT ${source})
    endif()
    target_link_libraries(${holder} PRIVATE slipring_options fmt::fmt)
    if(kind STREQUAL hot)
      target_compile_options(${holder} PRIVATE -O1)
    endif()
    target_precompile_headers(${holder} PRIVATE ${slipring_pch_${kind}})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      target_compile_options(${holder} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${holder})
endfunction()
