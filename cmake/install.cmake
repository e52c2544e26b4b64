# What `cmake --install` gives. Component `library`: the libraries that answer where a key lives, their headers, a
# package for find_package(slipring) with targets slipring::placement and slipring::topology (C++) and slipring::c (C).
# It needs only tl::expected, fmt and xxhash. Component `program`: the program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(map ${CMAKE_SOURCE_DIR}/slipring/capi/symbols.map)
add_library(slipring_c SHARED ${CMAKE_SOURCE_DIR}/slipring/capi/capi.cc)
add_library(slipring::c ALIAS slipring_c)
target_link_libraries(slipring_c PRIVATE slipring_topology)
target_include_directories(slipring_c INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_link_options(slipring_c PRIVATE -Wl,--version-script=${map})
set_target_properties(slipring_c PROPERTIES VERSION 1.0.0 SOVERSION 1 LINK_DEPENDS ${map})

target_include_directories(slipring_options INTERFACE $<INSTALL_INTERFACE:include>)
set(libraries options base hash placement topology c)
foreach(library ${libraries})
  set_target_properties(slipring_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS slipring_${library} EXPORT slipring-targets COMPONENT library)
endforeach()
foreach(module base hash placement topology)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/slipring/${module}/ DESTINATION include/slipring/${module} COMPONENT library
    FILES_MATCHING PATTERN "*.h" PATTERN conformance EXCLUDE PATTERN testing.h EXCLUDE)
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/slipring/capi/slipring.h DESTINATION include/slipring/capi COMPONENT library)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/slipring)
install(EXPORT slipring-targets NAMESPACE slipring:: DESTINATION ${package} COMPONENT library)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/slipring-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/slipring-config.cmake ${CMAKE_BINARY_DIR}/slipring-config-version.cmake
  DESTINATION ${package} COMPONENT library)

if(TARGET slipring)
  install(TARGETS slipring COMPONENT program)
endif()
