#include "io/json_member.hpp"

#include <stdexcept>

#include "core/json_io.hpp"

namespace subspectra {

nlohmann::json parsed_json(std::string_view text, const JsonSource& source) {
  std::string why;
  try {
    return parse_shallow_json(text);
  } catch (const nlohmann::json::out_of_range&) {
    why = ": it has a number that is larger than a double holds";
  } catch (const nlohmann::json::exception&) {
  } catch (const std::length_error& problem) {
    why = fmt::format(": {}", problem.what());
  }
  throw BadInput({.file = source.file}, fmt::format("this is not valid JSON{}; {}", why, source.way_out));
}

}  // namespace subspectra
