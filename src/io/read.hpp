#pragma once
/// One door for every table: read_dataset picks the reader by the file's ending.
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/io.hpp>

#include "core/options.hpp"
#include "data/dataset.hpp"

namespace subspectra {

struct EmbeddedDataset {
  std::string_view name;
  std::string_view summary;
  std::string_view csv;  ///< the whole file
};
[[nodiscard]] const std::vector<EmbeddedDataset>& embedded_datasets();

}  // namespace subspectra
