# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -DCXX=... -DGENERATOR=... -P run.cmake
# Installs the build into a fresh prefix; builds and runs a separate project against it, by CMake and by pkg-config.
function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "EXPECT;OUTPUT;WORKING_DIRECTORY" "COMMAND")
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY ${WORK_DIR})
  endif()
  execute_process(COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${arg_WORKING_DIRECTORY} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  string(JOIN " " line ${arg_COMMAND})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${line}\n${output}\n${errors}")
  endif()
  if(arg_EXPECT AND NOT output MATCHES "${arg_EXPECT}")
    message(FATAL_ERROR "'${arg_EXPECT}' is missing from the output of: ${line}\n${output}\n${errors}")
  endif()
  if(arg_OUTPUT)
    string(STRIP "${output}" output)
    set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
  message(STATUS "ok: ${line}")
endfunction()

# V11 has the largest ratio of between- to within-class variance (checked by a plain loop over the CSV).
set(answer "208 x 60, 2 classes, best single feature V11")
set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})

run(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(COMMAND ${prefix}/bin/subspectra --version EXPECT "[0-9]+\\.[0-9]+\\.[0-9]+")
# The companions are found from the prefix: the program that decodes, and the modules with Clp and LIBLINEAR.
foreach(table ${DECODED_TABLES})
  run(COMMAND ${prefix}/bin/subspectra select ${SOURCE_DIR}/../../fuzz/corpus/${table} --method fisher -k 1
      EXPECT "k = 1, objective 0.00678914")
endforeach()
run(COMMAND ${prefix}/bin/subspectra select sonar --method sulda EXPECT "V60")
run(COMMAND ${prefix}/bin/subspectra fit sonar --classifier svm -k 3 -o ${WORK_DIR}/svm.json EXPECT "features: V11 V36 V47")

# What a shell and `man` look for, in the folders where they look.
foreach(page bash-completion/completions/subspectra zsh/site-functions/_subspectra fish/vendor_completions.d/subspectra.fish
             man/man1/subspectra.1 man/man1/subspectra-select.1 man/man1/subspectra-evaluate.1)
  if(NOT EXISTS ${prefix}/share/${page})
    message(FATAL_ERROR "share/${page} was not installed")
  endif()
endforeach()
run(COMMAND bash -c "source share/bash-completion/completions/subspectra && complete -p subspectra" WORKING_DIRECTORY ${prefix} EXPECT "subspectra")

run(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -DCMAKE_PREFIX_PATH=${prefix}
            -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release)
run(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(COMMAND ${WORK_DIR}/build/consumer EXPECT "${answer}")

find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
file(GLOB_RECURSE pc_file ${prefix}/subspectra.pc)
get_filename_component(pc_dir "${pc_file}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
run(COMMAND ${pkg_config} --print-errors --cflags --libs subspectra OUTPUT flags)
run(COMMAND ${pkg_config} --variable=libdir subspectra OUTPUT libdir)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(COMMAND ${CXX} -O1 ${SOURCE_DIR}/main.cpp -o ${WORK_DIR}/by_pkg_config ${flags} -Wl,-rpath,${libdir})
run(COMMAND ${WORK_DIR}/by_pkg_config EXPECT "${answer}")

# The archive as a static installation has it, linked by its pkg-config file into a program that is not optimized and for this very CPU.
if(EXISTS ${BUILD_DIR}/libsubspectra_archive.a)
  set(archive ${WORK_DIR}/archive)
  string(REPLACE ${prefix} ${archive} archive_pc_dir ${pc_dir})
  string(REPLACE ${prefix} ${archive} archive_libdir ${libdir})
  file(COPY ${prefix}/include DESTINATION ${archive})
  file(MAKE_DIRECTORY ${archive_pc_dir} ${archive_libdir})
  configure_file(${BUILD_DIR}/archive.pc ${archive_pc_dir}/subspectra.pc COPYONLY)
  configure_file(${BUILD_DIR}/libsubspectra_archive.a ${archive_libdir}/libsubspectra.a COPYONLY)
  set(ENV{PKG_CONFIG_PATH} ${archive_pc_dir})
  run(COMMAND ${pkg_config} --print-errors --cflags --libs subspectra OUTPUT flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(COMMAND ${CXX} -O0 -march=native ${SOURCE_DIR}/main.cpp -o ${WORK_DIR}/by_archive ${flags})
  run(COMMAND ${WORK_DIR}/by_archive EXPECT "${answer}")
endif()
