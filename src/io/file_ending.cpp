#include "io/file_ending.hpp"

#include <cctype>

namespace subspectra {

FileEnding file_ending(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  FileEnding ending;
  ending.zipped = name.ends_with(".gz");
  if (ending.zipped) name.resize(name.size() - 3);
  const std::size_t dot = name.find_last_of('.');
  if (dot != std::string::npos) ending.text = name.substr(dot);
  return ending;
}

}  // namespace subspectra
