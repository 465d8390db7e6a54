#pragma once
/// Mutations of JSON files as trees: a value, a member or an element is changed, removed, doubled or replaced
/// by another one, so that the readers are met behind their parser. Every second mutation is one of bytes.
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "core/json_io.hpp"
#include "mutation.hpp"

namespace subspectra::fuzzing {

inline void list_values(nlohmann::json& value, std::vector<nlohmann::json*>& all) {
  if (all.size() > 20000) return;
  all.push_back(&value);
  if (!value.is_structured()) return;
  for (auto& part : value) list_values(part, all);
}

inline nlohmann::json odd_value(Chance& chance) {
  using nlohmann::json;
  switch (below(chance, 14)) {
    case 0:
      return nullptr;
    case 1:
      return below(chance, 2) == 0;
    case 2:
      return json::array();
    case 3:
      return json::object();
    case 4:
      return "";
    case 5:
      return std::string(1 + below(chance, 300), 'x');
    case 6:
      return -1;
    case 7:
      return 1e308;
    case 8:
      return 5e-324;
    case 9:
      return std::int64_t{1} << below(chance, 63);
    case 10:
      return ~std::uint64_t{0} >> below(chance, 3);
    case 11:
      return -0.0;
    case 12:
      return json::array({1, "1", json::array({1.5})});
    default:
      return static_cast<double>(below(chance, 100)) / 8.0;
  }
}

inline void change_value(nlohmann::json& value, Chance& chance, const nlohmann::json& other) {
  const std::size_t dice = below(chance, 8);
  if (dice == 0) {
    value = nlohmann::json(other);
  } else if (dice == 1) {
    value = odd_value(chance);
  } else if (value.is_array() && !value.empty()) {
    const auto at = value.begin() + static_cast<std::ptrdiff_t>(below(chance, value.size()));
    if (dice < 4) {
      value.erase(at);
    } else if (dice < 6) {
      value.insert(at, nlohmann::json(*at));
    } else {
      std::swap(*at, value.front());
    }
  } else if (value.is_object() && !value.empty()) {
    const auto at = std::next(value.begin(), static_cast<std::ptrdiff_t>(below(chance, value.size())));
    const std::string name = at.key();
    if (dice < 4) {
      value.erase(name);
    } else if (dice < 6) {
      value[name] = nlohmann::json(other);
    } else {
      value[name] = odd_value(chance);
    }
  } else if (value.is_string()) {
    const auto text = value.get<std::string>();
    Bytes bytes(text.begin(), text.end());
    mutate_bytes(bytes, bytes.size() + 8);
    value = std::string(bytes.begin(), bytes.end());
  } else if (value.is_number_integer() && dice < 6) {
    // Without a sign: the sum may overflow.
    value = static_cast<std::int64_t>(value.get<std::uint64_t>() + 1U - 2U * below(chance, 2));
  } else if (value.is_number()) {
    value = value.get<double>() * (dice < 5 ? -1.0 : 1.0 + 1e-9);
  } else {
    value = odd_value(chance);
  }
}

inline std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Chance chance(seed);
  if (below(chance, 2) == 0) return LLVMFuzzerMutate(data, size, most);
  nlohmann::json document;
  try {
    document = parse_shallow_json({reinterpret_cast<const char*>(data), size});
  } catch (const std::exception&) {
    return LLVMFuzzerMutate(data, size, most);
  }
  for (std::size_t times = 1 + below(chance, 3); times > 0; --times) {
    std::vector<nlohmann::json*> all;
    list_values(document, all);
    const nlohmann::json other = *all[below(chance, all.size())];
    change_value(*all[below(chance, all.size())], chance, other);
  }
  const std::string text = dump_json_leniently(document);
  return mutated(Bytes(text.begin(), text.end()), data, size, most);
}

}  // namespace subspectra::fuzzing

/// Of a target whose inputs are JSON files.
#define SUBSPECTRA_MUTATE_JSON                                                                           \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, \
                                                 unsigned seed) {                                        \
    return subspectra::fuzzing::mutate_json(data, size, most, seed);                                     \
  }                                                                                                      \
  static_assert(true)
