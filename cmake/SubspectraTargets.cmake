# Flags every target of this project is compiled with; nothing is set globally.
function(subspectra_defaults target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
    # Not -Wmissing-field-initializers: {.k = {1, 5}} leaves the rest at its defaults on purpose.
    -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # GCC 12 sees overlaps in "a" + std::string (its bug 105651)
  endif()
  if(SUBSPECTRA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${SUBSPECTRA_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${SUBSPECTRA_SANITIZE})
  endif()
  if(SUBSPECTRA_BUILD_FUZZERS)  # coverage that libFuzzer can follow, in the library as well
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# One C++ file with the given data files as byte arrays: subspectra::embedded::<stem>, <stem>_size.
function(subspectra_embed_data result)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_data.cpp)
  set(files)
  foreach(file ${ARGN})
    list(APPEND files ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DOUTPUT=${output} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedData.cmake
    DEPENDS ${files} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedData.cmake VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_LINTING ON)
  set(${result} ${output} PARENT_SCOPE)
endfunction()
