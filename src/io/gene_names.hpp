#pragma once
#include <string>
#include <unordered_map>
#include <vector>

namespace subspectra {

/// The symbols of genes, each as it stands where no other gene has it, else with the gene's id: "MATR3
/// (ENSG00000015479)". Both lists are of one length.
inline std::vector<std::string> gene_names(const std::vector<std::string>& symbols,
                                           const std::vector<std::string>& ids) {
  std::unordered_map<std::string_view, int> times;
  for (const std::string& symbol : symbols) ++times[symbol];
  std::vector<std::string> names;
  names.reserve(symbols.size());
  for (std::size_t j = 0; j < symbols.size(); ++j)
    names.push_back(times[symbols[j]] == 1 || symbols[j] == ids[j] ? symbols[j]
                                                                   : symbols[j] + " (" + ids[j] + ")");
  return names;
}

}  // namespace subspectra
