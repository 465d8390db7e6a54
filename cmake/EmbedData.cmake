# cmake -DFILES=a.csv;b.csv -DOUTPUT=x.cpp -P EmbedData.cmake
set(text "// Made by cmake/EmbedData.cmake from the files in data/.\n#include <cstddef>\nnamespace subspectra::embedded {\n")
foreach(file ${FILES})
  get_filename_component(stem ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "extern const unsigned char ${stem}[];\nextern const std::size_t ${stem}_size;\n"
    "const unsigned char ${stem}[] = {${bytes}};\nconst std::size_t ${stem}_size = ${size};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}}  // namespace subspectra::embedded\n")
