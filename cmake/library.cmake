# SPDX-License-Identifier: Apache-2.0
# libpeal, the executor as a library, shared and static, out of one set of objects: what the agent's
# executor is made of but for its built-in handlers, compiled with PEAL_LIBRARY (never abort a host,
# say nothing on its standard error).
#
# The shared one exports the functions of include/peal/executor.h and no other symbol. The static one
# is a single object in which all others were made local: a host may have a log_line() of its own.
file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/base/*.c ${CMAKE_SOURCE_DIR}/src/wire/*.c ${CMAKE_SOURCE_DIR}/src/sql/*.c
  ${CMAKE_SOURCE_DIR}/src/net/*.c ${CMAKE_SOURCE_DIR}/src/executor/*.c)
list(FILTER library_sources EXCLUDE REGEX "/executor/agent/")

add_library(peal_objects OBJECT ${library_sources})
target_include_directories(peal_objects PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(peal_objects PRIVATE PEAL_LIBRARY NDEBUG) # an assert would end the host
set_target_properties(peal_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
set(library_needs PkgConfig::SSL PkgConfig::CRYPTO PkgConfig::JANSSON PkgConfig::SQLITE Threads::Threads m)
target_link_libraries(peal_objects PRIVATE ${library_needs})

set(exports ${CMAKE_SOURCE_DIR}/src/executor/lib/libpeal.map)
add_library(peal_shared SHARED $<TARGET_OBJECTS:peal_objects>)
target_link_libraries(peal_shared PRIVATE ${library_needs})
target_link_options(peal_shared PRIVATE -Wl,--version-script=${exports} -Wl,-z,defs)
set_target_properties(peal_shared PROPERTIES OUTPUT_NAME peal LINKER_LANGUAGE C LINK_DEPENDS ${exports}
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

set(archive ${CMAKE_BINARY_DIR}/libpeal.a)
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_LINKER} -r -o libpeal.o $<TARGET_OBJECTS:peal_objects>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden libpeal.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND ${CMAKE_AR} rcs ${archive} libpeal.o
  COMMAND ${CMAKE_COMMAND} -E rm -f libpeal.o
  DEPENDS peal_objects $<TARGET_OBJECTS:peal_objects>
  COMMAND_EXPAND_LISTS VERBATIM COMMENT "Linking libpeal.a")
add_custom_target(peal_archive ALL DEPENDS ${archive})
