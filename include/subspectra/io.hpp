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
  std::string target = {};           ///< label column; "" asks for the default rule, "none" for no labels
  std::string weights = {};          ///< column of sample weights
  std::string cv_groups = {};        ///< column whose equal values stay together in cross-validation
  Index features = 0;                ///< LIBSVM: width of the table; 0 means the largest index
  int index_base = 1;                ///< LIBSVM: number of the first feature
  bool transpose = false;            ///< features in rows and samples in columns
  std::string format = {};           ///< of the file, whatever its ending; "" goes by the ending
  std::string labels = {};           ///< FILE or FILE:COLUMN with a label for every sample id
  std::string names = {};            ///< file with the names of the features, of a table that has none
  std::string id = {};               ///< column that names the rows
  std::string categorical = "auto";  ///< "auto", "none" or names of columns with commas between
  std::vector<std::string> na = {};  ///< further texts (and numbers) that stand for a missing value
  /// Columns that may hold text and are left out.
  std::vector<std::string> ignore = {};
  /// If not empty: the only columns that must be numbers. Other text columns are left out, not refused
  /// (predict).
  std::vector<std::string> needed = {};
  /// A table that lacks the column `target` is one without labels (predict); so with `id`.
  bool target_optional = false;
  bool id_optional = false;
  /// The features a model has that are made of columns: they are made again in the same way (predict).
  std::vector<detail::DerivedFeature> derived = {};
  ByteSize memory_limit = {};  ///< of the whole process while it reads; 0 means what is free

  SUBSPECTRA_EXPORT void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "target", o.target,
        "label column (an array of NPZ/MAT, an obs column of h5ad, the phenotype of .fam); 'none' for unlabelled data. Default: 'class' if there is one, the label array of NPZ/MAT/LIBSVM, else the last column that is not numeric");
    field("weights", o.weights, "column of sample weights >= 0; weight 2 counts as two equal rows");
    field("features", o.features, "LIBSVM: number of features; 0 takes the largest index in the file");
    field("index_base", o.index_base, "LIBSVM: number of the first feature, 0 or 1");
    field(
        "format", o.format,
        "how to read the file, whatever its ending: csv, csv2 (semicolons), series-matrix, 10x (a folder), 10x-h5, tsv, txt (the separator is found out), gct, mtx, npy, npz, bed, mat, libsvm, arff, h5ad");
    field("transpose", o.transpose, "the file has features in rows and samples in columns");
    field(
        "labels", o.labels,
        "FILE or FILE:COLUMN with the label of every sample, matched by sample id; the target, in place of a column of the table");
    field("names", o.names, "file with the names of the features, one a line (NPY, LIBSVM)");
    field(
        "id", o.id,
        "column that names the rows: no feature, and kept through predict. Default: a text column with a value of its own in every row");
    field(
        "categorical", o.categorical,
        "text columns that become 0/1 features, one less than values, chosen together: auto takes those with few values, none refuses text, NAMES takes these columns, of numbers too");
    field(
        "na", o.na,
        "texts that stand for a missing value, beside the empty field, NA, N/A, NaN, null, #N/A, <NA> and ?");
  }
};

/// The table in a file (CSV, TSV, TXT, GCT, GEO series matrix, NPY, NPZ, PLINK .bed, MAT, LIBSVM, ARFF, h5ad,
/// 10x; by its ending or `format`), "-" for CSV on standard input, or the name of an embedded data set (a
/// file of that name in the working directory does not hide it; write ./sonar for the file). Throws BadInput
/// (format and contents), Error (memory), InvalidArgument (options).
[[nodiscard]] SUBSPECTRA_EXPORT Dataset read_dataset(const std::string& data,
                                                     const ReadOptions& options = {});

}  // namespace subspectra
