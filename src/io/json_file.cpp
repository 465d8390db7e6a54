#include "io/json_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "io/byte_source.hpp"

namespace subspectra {

std::string json_file_text(const std::string& path, std::uint64_t largest, std::string_view too_large,
                           std::uint64_t memory_limit) {
  static_cast<void>(MemoryBudget(memory_limit));  // which refuses less than the program itself takes
  const std::uint64_t size = checked_file_size(path);
  if (size > largest) throw BadInput({.file = path}, std::string(too_large));
  const auto require = [&](double bytes) {
    require_memory(bytes, fmt::format("reading {}", path), "give a smaller file, or raise ⟨memory_limit⟩",
                   memory_limit);
  };
  require(static_cast<double>(size));
  std::string text(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  // What a value takes while the list that it stands in grows, and a name of an object beside its value.
  constexpr double kValue = 48.0, kName = 96.0;
  double values = 1.0, names = 0.0;
  for (const char c : text) {
    values += c == ',' || c == '[' || c == '{' ? 1.0 : 0.0;
    names += c == ':' ? 1.0 : 0.0;
  }
  require(kValue * values + kName * names);
  return text;
}

}  // namespace subspectra
