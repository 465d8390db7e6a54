# Flags every target of this project is compiled with; nothing is set globally.
function(subspectra_defaults target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
    # Not -Wmissing-field-initializers: {.k = {1, 5}} leaves the rest at its defaults on purpose.
    -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-restrict  # GCC 12 sees overlaps in "a" + std::string (its bug 105651)
      # A unity file fills a gigabyte or two whatever the collector does; looking for garbage on the way takes a tenth of the time.
      --param=ggc-min-expand=200 --param=ggc-min-heapsize=524288)
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

# A unity file takes up to 2.5 GB to compile: no more of them at once than memory holds, however many cores there are.
if(CMAKE_GENERATOR MATCHES Ninja AND SUBSPECTRA_UNITY AND NOT CMAKE_JOB_POOL_COMPILE)
  cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
  math(EXPR compilers "${memory_mib} / 3000 + 1")
  set_property(GLOBAL APPEND PROPERTY JOB_POOLS subspectra_compilers=${compilers})
  set(CMAKE_JOB_POOL_COMPILE subspectra_compilers)
endif()

# subspectra_optimized(TARGET LEVEL): a Release is compiled with -O<LEVEL>, as far as the target's speed is felt.
function(subspectra_optimized target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
endfunction()

# The rooms of src/ in their order, which is written down once, in src/rooms.txt.
function(subspectra_rooms result)
  set(list ${PROJECT_SOURCE_DIR}/src/rooms.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^[a-z]")
  list(TRANSFORM lines REPLACE "^([a-z_]+).*$" "\\1")
  set(${result} ${lines} PARENT_SCOPE)
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

# subspectra_defined(STEM DEFINITION...): src/STEM.cpp alone knows these, and is left out of unity files.
function(subspectra_defined stem)
  list(TRANSFORM ARGN PREPEND -D)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/${stem}.cpp PROPERTIES COMPILE_OPTIONS "${ARGN}")
endfunction()

# Few large files compile much faster than many small ones: most of a file's time goes into the headers of Eigen, and the same
# templates are instantiated once a file. subspectra_unity_sources(RESULT NAME SOURCE...) writes a file that includes the sources, by
# their paths below the project, so that it is the same in every clone (ccache). A source with flags of its own is left as it is.
# SUBSPECTRA_UNITY=OFF compiles every source by itself.
function(subspectra_unity_sources result name)
  if(NOT SUBSPECTRA_UNITY)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(compiled)
  set(text "")
  foreach(source ${ARGN})
    get_source_file_property(flags ${source} COMPILE_OPTIONS)
    if(flags)
      list(APPEND compiled ${source})
    else()
      file(RELATIVE_PATH below ${PROJECT_SOURCE_DIR} ${source})
      string(APPEND text "#include \"${below}\"\n")
    endif()
  endforeach()
  set(path ${CMAKE_CURRENT_BINARY_DIR}/unity/${name}.cpp)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
  set(${result} ${path} ${compiled} PARENT_SCOPE)
endfunction()

# The object of the OpenBLAS archive that chooses the kernels, with its `getenv` renamed: it asks
# src/linalg/blas_start.cpp instead of the environment (docs/blas.md). Linked before the archive, it stands in for the
# original. `result` stays empty for an archive with kernels of one kind, which has nothing to choose.
function(subspectra_openblas_start result)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/openblas)
  set(object ${folder}/openblas_start.o)
  set(${result} "" PARENT_SCOPE)
  execute_process(COMMAND ${CMAKE_AR} t ${OPENBLAS_STATIC_LIBRARY} OUTPUT_VARIABLE members)
  if(NOT members MATCHES "(^|\n)dynamic\\.o\n")
    return()
  endif()
  if(NOT EXISTS ${object} OR ${OPENBLAS_STATIC_LIBRARY} IS_NEWER_THAN ${object})
    file(MAKE_DIRECTORY ${folder})
    execute_process(COMMAND ${CMAKE_AR} x ${OPENBLAS_STATIC_LIBRARY} dynamic.o WORKING_DIRECTORY ${folder}
                    COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym getenv=subspectra_openblas_getenv dynamic.o ${object}
                    WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${result} ${object} PARENT_SCOPE)
endfunction()
