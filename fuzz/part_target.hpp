#pragma once
#include <nlohmann/json.hpp>

#include <subspectra/rankers.hpp>
#include <subspectra/searches.hpp>

#include "core/json_io.hpp"
#include "evaluate/cross_validation.hpp"
#include "io/part_file.hpp"
#include "outcome.hpp"
#include "select/select.hpp"
#include "temporary_input.hpp"

namespace subspectra::fuzzing {

/// A small table for runs in parts, of two classes.
inline const Dataset& parted_table() {
  static const Dataset table = [] {
    DatasetParts data;
    data.source = "parted";
    data.dense.resize(24, 9);
    data.names = FeatureNames(9);
    data.labels.emplace();
    data.labels->name = "class";
    data.labels->classes = {"a", "b"};
    std::uint64_t state = 5;
    for (Index i = 0; i < 24; ++i) {
      data.labels->codes.push_back(static_cast<int>(i % 2));
      for (Index j = 0; j < 9; ++j) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        data.dense(i, j) =
            static_cast<double>(state >> 40U) * 0x1p-23 - 1.0 + (j < 3 && i % 2 == 1 ? 0.5 : 0.0);
      }
    }
    return Dataset(std::move(data));
  }();
  return table;
}

/// The run that a part of this command belongs to. What it answers has to be what the program can write.
inline void run_parted(const PartRun& run, PartWork* work) {
  const RunControl control({}, 5.0);
  SelectOptions options{.k = {1, 4}, .threads = 1};
  if (run.command == "evaluate") {
    const Evaluation evaluation =
        evaluate_methods(parted_table(), {Fisher{}, Ks{}}, options, {}, Lda{},
                         {.folds = {3}, .null = 1, .predictions = true}, control, work);
    if (work->merging()) (void)evaluation.to_json(parted_table());
    return;
  }
  options.part_work = work;
  const auto named = run.options.find("method");
  const std::string name = named == run.options.end() ? std::string() : named->second;
  const Method method = name == "ks" ? Method(Ks{}) : name == "fisher" ? Method(Fisher{}) : Method(Eslda{});
  const Selection selection = select_features(parted_table(), method, options, control);
  if (!work->merging()) return;
  for (const auto& set : selection.sets()) {
    for (const Index feature : set.features) {
      if (feature < 0 || feature >= parted_table().features()) std::abort();
    }
  }
  (void)selection.to_json(parted_table(), options);
}

}  // namespace subspectra::fuzzing

/// The bytes as the file of a part: as they are, and with the version and the checksum made right, as
/// somebody would who forges one. What is accepted is put together to the end: a forged file may win, but not
/// crash.
inline void fuzz_part(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const auto put_together = [](std::span<const std::uint8_t> content) {
    const fuzzing::TemporaryInput file(content, ".part");
    try {
      std::vector<PartFile> files;
      files.push_back(read_part(file.path()));
      PartWork work(std::move(files));
      fuzzing::run_parted(work.run(), &work);
    } catch (const Error&) {  // refused with words
    }
  };
  put_together(bytes);
  nlohmann::json document;
  try {
    document = parse_shallow_json(fuzzing::as_text(bytes));
  } catch (const std::exception&) {  // no JSON: only refused
  }
  if (!document.is_object() || !document.contains("items") || !document["items"].is_object()) return;
  PartFile forged{.path = {}, .part = {.number = 1, .count = 1}, .run = {}, .items = document["items"]};
  const auto text_of = [](const nlohmann::json& object, const char* name) {
    const auto member = object.find(name);
    return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
  };
  forged.run.command = text_of(document, "command");
  if (document.contains("options") && document["options"].is_object())
    forged.run.options["method"] = text_of(document["options"], "method");
  const std::string text = part_text(forged);
  put_together({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}
