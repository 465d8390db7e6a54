#include "model/labelled_rows.hpp"

#include <algorithm>

#include "evaluate/held_out.hpp"

namespace subspectra {

std::optional<LabelledRows> judge_labelled_rows(const TrainedModel& model, const Dataset& data,
                                                const std::vector<int>& predicted) {
  if (data.labels() == nullptr) return std::nullopt;
  const Labels& labels = *data.labels();
  LabelledRows judged;
  judged.truths = model.classes;
  const auto counts = labels.counts();
  std::vector<int> place;  // of the table's classes among the truths
  for (std::size_t c = 0; c < labels.classes.size(); ++c) {
    const std::string& name = labels.classes[c];
    const auto known = std::find(model.classes.begin(), model.classes.end(), name);
    if (known != model.classes.end()) {
      place.push_back(static_cast<int>(known - model.classes.begin()));
      continue;
    }
    place.push_back(static_cast<int>(judged.truths.size()));
    if (counts[c] == 0) continue;
    judged.truths.push_back(name);
    judged.unknown.push_back(name);
    judged.unknown_rows += counts[c];
  }
  std::vector<int> truth;
  for (const int code : labels.codes)
    truth.push_back(code == Labels::kMissing ? code : place[static_cast<std::size_t>(code)]);
  const Matrix confusion = confusion_counts(truth, predicted, static_cast<Index>(judged.truths.size()),
                                            static_cast<Index>(model.classes.size()));
  judged.confusion = confusion;
  judged.rows = static_cast<Index>(confusion.sum());
  if (judged.rows == 0) return std::nullopt;
  judged.wrong = judged.rows - static_cast<Index>(confusion.diagonal().sum());
  judged.error = static_cast<double>(judged.wrong) / static_cast<double>(judged.rows);
  return judged;
}

}  // namespace subspectra
