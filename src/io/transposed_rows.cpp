#include "io/transposed_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace subspectra {
namespace {

constexpr Index kValuesABlock = Index{1} << 17;

}  // namespace

TransposedRows::TransposedRows(std::string source, std::shared_ptr<MemoryBudget> memory)
    : memory_(std::move(memory)),
      for_values_{.what = fmt::format("the numbers of {}", source),
                  .advice = "take fewer features or samples, or raise ⟨memory_limit⟩"},
      for_names_{.what = fmt::format("the names in {}", source),
                 .advice = "take fewer features or samples, or raise ⟨memory_limit⟩"} {
  table_.source = std::move(source);
}

void TransposedRows::start(std::vector<std::string> sample_ids) {
  started_ = true;
  samples_ = static_cast<Index>(sample_ids.size());
  sample_ids_ = std::move(sample_ids);
  features_a_block_ = std::max<Index>(1, kValuesABlock / std::max<Index>(1, samples_));
  memory_->grow(static_cast<std::size_t>(samples_) * sizeof(double), for_values_);
  next_.assign(static_cast<std::size_t>(samples_), 0.0);
}

void TransposedRows::add_block() {
  const auto count = static_cast<std::size_t>(features_a_block_ * samples_);
  memory_->grow(count * sizeof(double), for_values_);
  blocks_.emplace_back(new double[count]);  // NOLINT(*-owning-memory)
}

void TransposedRows::commit(std::string_view name) {
  if (features_ % features_a_block_ == 0) add_block();
  std::copy(next_.begin(), next_.end(), blocks_.back().get() + (features_ % features_a_block_) * samples_);
  memory_->append(names_, name, for_names_);
  ++features_;
}

void TransposedRows::note_missing(const Location& where) {
  if (!table_.first_missing) table_.first_missing = where;
}

void TransposedRows::note_infinite(const Location& where, std::string_view text) {
  if (!table_.first_infinite) table_.first_infinite = InfiniteCell{.where = where, .text = std::string(text)};
}

RawTable TransposedRows::finish(const std::string& ids) {
  // The matrix comes into use block by block, as the blocks go.
  table_.dense.resize(samples_, features_);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Index first = static_cast<Index>(b) * features_a_block_;
    const Index count = std::min(features_a_block_, features_ - first);
    std::copy_n(blocks_[b].get(), count * samples_, table_.dense.data() + first * samples_);
    blocks_[b].reset();
  }
  blocks_.clear();
  table_.names = FeatureNames(std::move(names_));
  SideColumn column;
  column.name = ids;
  column.values = std::move(sample_ids_);
  column.may_be_ignored = true;
  column.is_id = true;
  table_.side.insert(table_.side.begin(), std::move(column));
  table_.samples_in_rows = true;
  table_.memory = memory_;
  return std::move(table_);
}

}  // namespace subspectra
