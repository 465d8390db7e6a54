#pragma once
/// Tables from files.
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/dataset.hpp>
#include <subspectra/export.hpp>
#include <subspectra/options.hpp>

namespace subspectra {

struct ReadOptions {
  std::string target = {};     ///< label column; "" asks for the default rule, "none" for no labels
  std::string weights = {};    ///< column of sample weights
  std::string cv_groups = {};  ///< column whose equal values stay together in cross-validation
  Index features = 0;          ///< LIBSVM: width of the table; 0 means the largest index
  int index_base = 1;          ///< LIBSVM: number of the first feature
  /// Columns that may hold text and are left out.
  std::vector<std::string> ignore = {};
  /// If not empty: the only columns that must be numbers. Other text columns are left out, not refused
  /// (predict).
  std::vector<std::string> needed = {};
  /// A table that lacks the column `target` is one without labels (predict).
  bool target_optional = false;
  ByteSize memory_limit = {};  ///< of the whole process while it reads; 0 means what is free

  SUBSPECTRA_EXPORT void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "target", o.target,
        "label column (an array of NPZ/MAT, an obs column of h5ad); 'none' for unlabelled data. Default: 'class' if there is one, the label array of NPZ/MAT/LIBSVM, else the last column that is not numeric");
    field("weights", o.weights, "column of sample weights >= 0; weight 2 counts as two equal rows");
    field("features", o.features, "LIBSVM: number of features; 0 takes the largest index in the file");
    field("index_base", o.index_base, "LIBSVM: number of the first feature, 0 or 1");
  }
};

/// The table in a file (CSV, TSV, NPY, NPZ, MAT, LIBSVM, ARFF, h5ad; by its ending), "-" for CSV on standard
/// input, or the name of an embedded data set (a file of that name in the working directory does not hide it;
/// write ./sonar for the file). Throws BadInput (format and contents), Error (memory), InvalidArgument
/// (options).
[[nodiscard]] SUBSPECTRA_EXPORT Dataset read_dataset(const std::string& data,
                                                     const ReadOptions& options = {});

}  // namespace subspectra
