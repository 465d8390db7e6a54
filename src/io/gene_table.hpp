#pragma once
/// What the readers of gene tables share: lines of fields between tabs, and samples with descriptions.
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "io/text_scan.hpp"
#include "io/transposed_rows.hpp"

namespace subspectra {

/// The fields of a line, without blanks around them and without one pair of quotes; views into the line. A
/// line of tabs makes sixteen bytes of each of its own, so that `memory` counts them.
void split_tabs(std::string_view line, std::vector<std::string_view>& fields, MemoryBudget& memory,
                const MemoryPurpose& purpose);

/// The lines of a gene table that are not blank, cut at their tabs.
class TabbedLines {
 public:
  /// `memory` and `purpose` must live as long.
  TabbedLines(ByteSource& bytes, const std::string& name, std::size_t block_bytes, MemoryBudget& memory,
              const MemoryPurpose& purpose)
      : name_(name), memory_(memory), purpose_(purpose), lines_(bytes, name, block_bytes, memory) {}
  /// False at the end. Throws BadInput for a zero byte.
  bool next();
  /// Of the line given last; views that live until the next one.
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }
  [[nodiscard]] Location here() const;

 private:
  std::string name_;
  MemoryBudget& memory_;
  const MemoryPurpose& purpose_;
  LineReader lines_;
  std::vector<std::string_view> fields_;
};

/// A column that says something of every sample and is the label if it alone can be.
[[nodiscard]] SideColumn sample_description(std::string name, std::vector<std::string> values,
                                            const Location& first);

/// The fields from `skipped` on as the next values of `rows`: numbers, or missing by a token or by `na`.
/// Throws BadInput with the place of a text that is neither, or where they are not one a sample.
void take_values(TransposedRows& rows, const std::vector<std::string_view>& fields, std::size_t skipped,
                 const Location& line, const std::vector<std::string>& na);

}  // namespace subspectra
