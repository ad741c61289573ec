# Compiler flags, packages and the two helpers that every folder's CMakeLists.txt uses.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# -ffp-contract=off: results must not depend on whether the compiler finds a fused multiply-add.
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off)
if(DEPUTY_SANITIZE)
  add_compile_options(-fsanitize=${DEPUTY_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${DEPUTY_SANITIZE})
endif()

find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(PkgConfig REQUIRED)

if(DEPUTY_WITH_SYSTEMC)
  pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc>=2.3.3)
  add_library(SystemC::systemc INTERFACE IMPORTED)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SYSTEMC)
  # Debian builds libsystemc as C++17 and its link-time version check refuses any other standard.
  # Every use of this macro in the headers is a >= test that C++17 already satisfies.
  target_compile_definitions(SystemC::systemc INTERFACE SC_CPLUSPLUS=201703L)
endif()

# deputy_library(NAME [SYSTEMC] [LINK targets...]): one static library from all .cpp files of this
# folder and the given subfolders (DIRS). Includes are written from the top folder: "arch/isa.h".
function(deputy_library name)
  cmake_parse_arguments(A "SYSTEMC" "" "LINK;DIRS" ${ARGN})
  set(globs ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(dir ${A_DIRS})
    list(APPEND globs ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${globs})
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${deputy_SOURCE_DIR} ${deputy_SOURCE_DIR}/include)
    target_compile_features(${name} INTERFACE cxx_std_20)
    target_link_libraries(${name} INTERFACE ${A_LINK})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${deputy_SOURCE_DIR} ${deputy_SOURCE_DIR}/include)
  target_compile_features(${name} PUBLIC cxx_std_20)  # for projects elsewhere
  target_link_libraries(${name} PRIVATE ${A_LINK} fmt::fmt)
  if(A_SYSTEMC)
    target_link_libraries(${name} PRIVATE SystemC::systemc)
  endif()
endfunction()
