include(CMakePackageConfigHelpers)
install(TARGETS subspectra_library EXPORT SubspectraTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(SUBSPECTRA_BUILD_CLI)
  install(TARGETS subspectra RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/subspectra DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Subspectra)
install(EXPORT SubspectraTargets NAMESPACE subspectra:: DESTINATION ${package_dir})
configure_package_config_file(cmake/SubspectraConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/SubspectraConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/SubspectraConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SubspectraConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/SubspectraConfigVersion.cmake
  DESTINATION ${package_dir})
file(RELATIVE_PATH subspectra_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(subspectra_pc_requires eigen3)
set(subspectra_pc_libs "")
configure_file(cmake/subspectra.pc.in ${CMAKE_CURRENT_BINARY_DIR}/subspectra.pc @ONLY)
# An archive takes its own libraries along: whoever links it has to find them.
string(APPEND subspectra_pc_requires " fmt zlib tbb")
string(APPEND subspectra_pc_libs " ${LIBSVM_LIBRARY} ${OPENBLAS_STATIC_LIBRARY} ${GFORTRAN_LIBRARY} -pthread")
foreach(library ${CMAKE_DL_LIBS})
  string(APPEND subspectra_pc_libs " -l${library}")
endforeach()
configure_file(cmake/subspectra.pc.in ${CMAKE_CURRENT_BINARY_DIR}/archive.pc @ONLY)
if(NOT BUILD_SHARED_LIBS)
  install(FILES cmake/FindOpenBLASStatic.cmake cmake/FindLibsvm.cmake DESTINATION ${package_dir})
  configure_file(${CMAKE_CURRENT_BINARY_DIR}/archive.pc ${CMAKE_CURRENT_BINARY_DIR}/subspectra.pc COPYONLY)
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/subspectra.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Manual pages and completions, written by the program itself from the descriptions of its options.
if(SUBSPECTRA_BUILD_CLI AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  set(pages ${CMAKE_CURRENT_BINARY_DIR}/pages)
  add_custom_command(OUTPUT ${pages}/written
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}/man1
    COMMAND subspectra --write-pages ${pages}
    COMMAND ${CMAKE_COMMAND} -E touch ${pages}/written
    DEPENDS subspectra VERBATIM)
  add_custom_target(subspectra_pages ALL DEPENDS ${pages}/written)
  install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${pages}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME subspectra)
  install(FILES ${pages}/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _subspectra)
  install(FILES ${pages}/completion.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    RENAME subspectra.fish)
endif()
install(FILES LICENSE data/NOTICE.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
