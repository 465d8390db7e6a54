# cmake -DLD=ld -DNM=nm -DOBJCOPY=objcopy -DOBJECTS=a.o;b.o -DOUTPUT=x.o -P SealObject.cmake
# One object of many, in which all that is hidden is local. Without its groups of sections: one that the linker throws away for a
# program's own copy would take what is local here along. Inline variables ("unique" symbols) were in such groups: they are weak now,
# and those of Eigen local.
execute_process(COMMAND ${LD} -r --force-group-allocation -o ${OUTPUT} ${OBJECTS} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NM} ${OUTPUT} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " u [^\n]+" unique "${symbols}")
list(TRANSFORM unique REPLACE "^ u " "")
set(of_eigen ${unique})
list(FILTER of_eigen INCLUDE REGEX 5Eigen)
list(JOIN unique "\n" unique)
list(JOIN of_eigen "\n" of_eigen)
file(WRITE ${OUTPUT}.weak "${unique}\n")
file(WRITE ${OUTPUT}.local "${of_eigen}\n")
execute_process(COMMAND ${OBJCOPY} --localize-hidden --weaken-symbols=${OUTPUT}.weak ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJCOPY} --localize-symbols=${OUTPUT}.local ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
