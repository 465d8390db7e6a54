#pragma once
#include <string>

namespace subspectra {

/// How a file's name ends, which is what tells its format.
struct FileEnding {
  std::string text;     ///< ".csv" of "dir/A.CSV.gz": lower case, "" if there is none
  bool zipped = false;  ///< .gz stood behind it
};
[[nodiscard]] FileEnding file_ending(const std::string& path);

}  // namespace subspectra
