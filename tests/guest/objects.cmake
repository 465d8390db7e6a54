# cmake -DPROGRAM=... -DLIBRARY=... -P objects.cmake
# Counts the shared objects that are loaded when the program starts, and with a program that is linked to the library. Each
# is time at every start, and something that may clash with what a host process has loaded already.
set(most 15)
function(count_objects file extra)
  execute_process(COMMAND ldd ${file} OUTPUT_VARIABLE output RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "ldd ${file} failed: ${output}")
  endif()
  string(REGEX MATCHALL "[^\n]+" lines "${output}")
  list(FILTER lines EXCLUDE REGEX "linux-vdso|statically linked")
  list(LENGTH lines count)
  math(EXPR count "${count} + ${extra}")
  message(STATUS "${file}: ${count} shared objects at start-up, at most ${most}")
  if(count GREATER most)
    message(FATAL_ERROR "too many shared objects:\n${output}")
  endif()
  foreach(unwanted hdf5 matio Clp CoinUtils liblinear libblas liblapack libopenblas curl)
    if(output MATCHES "${unwanted}")
      message(FATAL_ERROR "${file} loads ${unwanted} at start-up:\n${output}")
    endif()
  endforeach()
endfunction()

count_objects(${PROGRAM} 0)
if(LIBRARY MATCHES "\\.so")
  count_objects(${LIBRARY} 1)  # the library itself
endif()
