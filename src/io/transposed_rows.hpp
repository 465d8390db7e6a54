#pragma once
/// Tables that a file holds the other way round, a feature in every row and a sample in every column (gene
/// tables): rows of numbers on their way to the columns of an N x p matrix.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "io/raw_table.hpp"

namespace subspectra {

class TransposedRows {
 public:
  TransposedRows(std::string source, std::shared_ptr<MemoryBudget> memory);
  TransposedRows(const TransposedRows&) = delete;
  TransposedRows& operator=(const TransposedRows&) = delete;
  ~TransposedRows() = default;

  /// The columns of the file are these samples; comes first, and once.
  void start(std::vector<std::string> sample_ids);
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] Index samples() const { return samples_; }
  [[nodiscard]] Index features() const { return features_; }

  /// The values of the next feature, to be filled; commit() keeps them under its name.
  [[nodiscard]] std::span<double> values() { return next_; }
  void commit(std::string_view name);
  /// Where the first missing or infinite value stood; later ones change nothing.
  void note_missing(const Location& where);
  void note_infinite(const Location& where, std::string_view text);
  /// A text for every sample.
  void describe(SideColumn column) { table_.side.push_back(std::move(column)); }
  void note(std::string text) { table_.notes.push_back(std::move(text)); }

  /// N samples x p features; `ids` is what the column of sample ids is called.
  [[nodiscard]] RawTable finish(const std::string& ids);

 private:
  void add_block();

  RawTable table_;
  std::shared_ptr<MemoryBudget> memory_;
  MemoryPurpose for_values_, for_names_;
  bool started_ = false;
  Index samples_ = 0, features_ = 0;
  Index features_a_block_ = 1;
  std::vector<std::string> sample_ids_, names_;
  std::vector<double> next_;
  std::vector<std::unique_ptr<double[]>> blocks_;  // NOLINT(*-avoid-c-arrays): left uninitialized
};

}  // namespace subspectra
