# find_package(slipring): slipring::placement, slipring::topology (C++20, static), slipring::c (C, shared).
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(PkgConfig)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
include(${CMAKE_CURRENT_LIST_DIR}/slipring-targets.cmake)
