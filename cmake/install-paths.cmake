# SPDX-License-Identifier: Apache-2.0
# Run by `cmake --install`: write the files that name paths, with the prefix that is meant now.
foreach(entry IN LISTS PEAL_WITH_PATHS)
  string(REGEX MATCH "^(.*)=(.*)$" entry "${entry}")
  set(folder "${CMAKE_MATCH_2}")
  get_filename_component(name "${CMAKE_MATCH_1}" NAME_WLE)
  configure_file("${PEAL_SOURCE_DIR}/${CMAKE_MATCH_1}" "${PEAL_BINARY_DIR}/install/${name}" @ONLY)
  file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}" TYPE FILE
    FILES "${PEAL_BINARY_DIR}/install/${name}")
endforeach()
