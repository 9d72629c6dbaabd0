# SPDX-License-Identifier: Apache-2.0
# What goes where. `cmake --install DIR --prefix P` may name another prefix than the one configured,
# so files that contain paths (.in) are written at that moment (cmake/install-paths.cmake).
include(GNUInstallDirs)
set(PEAL_UNIT_DIR lib/systemd/system CACHE STRING "folder of the systemd units, under the prefix")

install(TARGETS peal RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES LICENSE README.md README.zh-CN.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.webp")
foreach(section 1 3)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

install(FILES packaging/completion/peal
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

install(DIRECTORY packaging/prometheus packaging/grafana DESTINATION ${CMAKE_INSTALL_DATADIR}/peal)

install(FILES packaging/systemd/peal-server.socket DESTINATION ${PEAL_UNIT_DIR})
foreach(name server executor)
  install(FILES packaging/systemd/peal-${name}.sysusers DESTINATION lib/sysusers.d RENAME peal-${name}.conf)
  install(FILES packaging/systemd/peal-${name}.tmpfiles DESTINATION lib/tmpfiles.d RENAME peal-${name}.conf)
endforeach()
set(with_paths "packaging/systemd/peal-server.service.in=${PEAL_UNIT_DIR}"
  "packaging/systemd/peal-executor.service.in=${PEAL_UNIT_DIR}")
if(TARGET peal_shared)
  install(TARGETS peal_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY include/peal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
  list(APPEND with_paths "packaging/peal.pc.in=${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    "packaging/peal-static.pc.in=${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

# what a static libpeal needs of its host's link, as pkg-config names it
set(needs)
foreach(library ${SSL_STATIC_LIBRARIES} ${CRYPTO_STATIC_LIBRARIES} ${JANSSON_STATIC_LIBRARIES}
    ${SQLITE_STATIC_LIBRARIES} m)
  list(APPEND needs -l${library})
endforeach()
list(REMOVE_DUPLICATES needs)
list(JOIN needs " " needs)
foreach(name SOURCE_DIR BINARY_DIR INSTALL_BINDIR INSTALL_LIBDIR INSTALL_INCLUDEDIR)
  install(CODE "set(PEAL_${name} \"${CMAKE_${name}}\")")
endforeach()
install(CODE "set(PEAL_VERSION \"${PROJECT_VERSION}\")\nset(PEAL_NEEDS \"${needs} -pthread\")
set(PEAL_WITH_PATHS \"${with_paths}\")")
install(SCRIPT cmake/install-paths.cmake)
