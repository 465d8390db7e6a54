#pragma once
#include <optional>

#include "outcome.hpp"
#include "report/command_line.hpp"
#include "report/figures.hpp"
#include "report/page.hpp"
#include "report/page_facts.hpp"
#include "report/page_input.hpp"
#include "temporary_input.hpp"

namespace subspectra::fuzzing {

/// A small table of the shape that a result claims; nothing where it claims another.
inline std::optional<Dataset> table_like(const nlohmann::json& result) {
  constexpr Index kRows = 12;
  if (!result.contains("data") || !result["data"].is_object()) return std::nullopt;
  const auto features = result["data"].find("features");
  if (features == result["data"].end() || !features->is_number_unsigned()) return std::nullopt;
  const auto p = features->get<Index>();
  if (p < 1 || p > 8) return std::nullopt;
  DatasetParts parts;
  parts.source = "table";
  parts.names = FeatureNames(p);
  parts.dense.resize(kRows, p);
  std::uint64_t state = 1;
  for (double& x : parts.dense.reshaped()) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x = static_cast<double>(state >> 40U) * 0x1p-24;
  }
  parts.labels.emplace();
  parts.labels->name = "class";
  parts.labels->classes = {"a", "b"};
  for (Index i = 0; i < kRows; ++i) parts.labels->codes.push_back(static_cast<int>(i % 2));
  return Dataset(std::move(parts));
}

}  // namespace subspectra::fuzzing

/// The bytes as a result file, or as the log of a search, that `report` is given: what is accepted becomes a
/// page and figures, whatever else the file holds, and no figure has a number that is none or an element that
/// is not ours.
inline void fuzz_report(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const fuzzing::TemporaryInput file(bytes, ".json");
  try {
    nlohmann::json input = read_page_input(file.path());
    PageResult one{.name = "input.json", .command = {}, .result = std::move(input)};
    if (one.result.is_array()) {
      one.events = std::move(one.result);
      one.result = {{"schema", "subspectra.selection/1"},
                    {"method", "eslda"},
                    {"status", "optimal"},
                    {"data", {{"features", 4}}},
                    {"path", nlohmann::json::array({{{"k", 1}, {"features", {0}}, {"objective", 0.5}}})}};
    }
    one.command = command_of(one.result);
    const ImageShape shape{.height = 2, .width = 2};
    if (const auto table = fuzzing::table_like(one.result)) {
      one.facts = page_facts(one.result, *table, {}, shape);
    }
    const nlohmann::json data = page_data({one}, shape);
    for (const PageFigure& figure : page_figures(data)) {
      for (const char* const wrong : {"=\"nan", "=\"-nan", "=\"inf", "=\"-inf", "<script", "<image"}) {
        if (figure.svg.find(wrong) == std::string::npos) continue;
        std::fprintf(stderr, "%s has %s\n", figure.file.c_str(), wrong);
        std::abort();
      }
    }
  } catch (const Error&) {  // refused with words
  }
}
