/// AnnData files (.h5ad), decoded by libhdf5. The layout is that of "On-disk format"
/// in anndata's documentation, with the older spellings (h5sparse_format, __categories) beside the current
/// ones.
#include <fmt/format.h>

#include <optional>

#include "companions/decode/decoders.hpp"
#include "companions/decode/hdf5_reader.hpp"

namespace subspectra {
namespace {

class H5adDecoder : Hdf5Reader {
 public:
  H5adDecoder(const std::string& path, TableSink& sink) : Hdf5Reader(path, sink) {}

  void decode() {
    open("adata.write_h5ad");
    if (!exists(file_, "X")) {
      throw BadInput({.file = path_},
                     "has no X; an AnnData file with a matrix X is needed (adata.write_h5ad)");
    }
    read_table();
    read_feature_names();
    read_obs();
  }

 private:
  Column by_codes(const Handle& codes, const Handle& categories, const std::string& place) const {
    const auto names = read_plain(categories, place + "/categories");
    if (!names) damaged(place, "its categories are neither texts nor numbers");
    Column column;
    for (const std::int64_t code : read_vector<std::int64_t>(codes, H5T_NATIVE_INT64, place)) {
      if (code < -1 || code >= static_cast<std::int64_t>(names->values.size())) {
        damaged(place, fmt::format("code {} where {} categories exist", code, names->values.size()));
      }
      column.values.push_back(code < 0 ? std::string() : names->values[static_cast<std::size_t>(code)]);
    }
    return column;
  }
  /// A column of obs or var: plain, categorical (today's and the older layout) or with a mask of missing
  /// values.
  std::optional<Column> read_column(const Handle& frame, const std::string& name,
                                    const std::string& place) const {
    if (is_group(frame, name, place)) {
      const Handle group = open_group(frame, name, place);
      if (exists(group, "codes") && exists(group, "categories")) {
        return by_codes(open_dataset(group, "codes", place + "/codes"),
                        open_dataset(group, "categories", place + "/categories"), place);
      }
      if (!exists(group, "values") || !exists(group, "mask")) return std::nullopt;
      auto column = read_plain(open_dataset(group, "values", place + "/values"), place);
      const auto mask = read_plain(open_dataset(group, "mask", place + "/mask"), place);
      if (!column || !mask || column->values.size() != mask->values.size())
        damaged(place, "its mask does not fit");
      for (std::size_t i = 0; i < mask->values.size(); ++i) {
        if (mask->values[i] != "0") column->values[i].clear();
      }
      return column;
    }
    const Handle dataset = open_dataset(frame, name, place);
    if (extent_of(dataset, place).size() != 1) return std::nullopt;
    if (exists(frame, "__categories") && class_of(dataset) == H5T_INTEGER) {
      const Handle all = open_group(frame, "__categories", place);
      if (exists(all, name)) return by_codes(dataset, open_dataset(all, name, place), place);
    }
    return read_plain(dataset, place);
  }

  // --- X
  // ---------------------------------------------------------------------------------------------------------
  void read_table() {
    if (is_group(file_, "X", "X")) {
      read_sparse(open_group(file_, "X", "X"));
    } else {
      read_dense(open_dataset(file_, "X", "X"));
    }
  }

  void read_dense(const Handle& dataset) {
    const Extent extent = extent_of(dataset, "X");
    if (!is_number(dataset) || extent.size() != 2) {
      throw BadInput(
          where("X"),
          fmt::format("{} of shape {} where a matrix of numbers (cells x genes) is needed",
                      is_number(dataset) ? "numbers" : "values that are no numbers", shape_text(extent)));
    }
    const hsize_t rows = extent[0];
    const hsize_t columns = extent[1];
    rows_ = static_cast<Index>(rows);
    columns_ = static_cast<Index>(columns);
    sink_.note(fmt::format("X: dense, {} cells x {} genes", rows, columns));
    sink_.begin_dense(rows_, columns_, TileOrder::kRows, "X");
    stream_dense("X", TileOrder::kRows);
  }

  void read_sparse(const Handle& group) {
    std::string format = single_text_attribute(group, "encoding-type", "X");
    if (format.empty()) format = single_text_attribute(group, "h5sparse_format", "X");
    const bool by_rows = format == "csr_matrix" || format == "csr";
    if (!by_rows && format != "csc_matrix" && format != "csc") {
      throw BadInput(
          where("X"),
          fmt::format(
              "is a group of encoding '{}' where a dense, CSR or CSC matrix is needed; set adata.X = adata.X.tocsr() and write the file again",
              format.substr(0, 40)));
    }
    auto shape = whole_attribute(group, "shape", 2, "X");
    if (!shape) shape = whole_attribute(group, "h5sparse_shape", 2, "X");
    if (!shape) damaged("X", "its shape is missing");
    for (const char* part : {"data", "indices", "indptr"}) {
      if (!exists(group, part)) damaged("X", fmt::format("'{}' is missing", part));
    }
    const Handle data = open_dataset(group, "data", "X/data");
    const Handle indices = open_dataset(group, "indices", "X/indices");
    const Handle indptr = open_dataset(group, "indptr", "X/indptr");
    if (!is_number(data)) damaged("X/data", "numbers are needed");
    if (H5Tget_class(type_of(indices).get()) != H5T_INTEGER) damaged("X/indices", "whole numbers are needed");
    if (H5Tget_class(type_of(indptr).get()) != H5T_INTEGER) damaged("X/indptr", "whole numbers are needed");
    const std::uint64_t entries = length_of(data, "X/data");
    if (entries != length_of(indices, "X/indices")) damaged("X", "'data' and 'indices' differ in length");
    rows_ = (*shape)[0];
    columns_ = (*shape)[1];
    sink_.note(fmt::format("X: sparse ({}), {} cells x {} genes, {} stored values", by_rows ? "CSR" : "CSC",
                           rows_, columns_, entries));
    const CompressedShape compressed{
        .by_rows = by_rows,
        .rows = rows_,
        .columns = columns_,
        .indptr = read_vector<std::int64_t>(indptr, H5T_NATIVE_INT64, "X/indptr"),
        .entries = static_cast<std::int64_t>(entries),
        .where = where("X")};
    SparseArrays source(*this, data, indices, "X");
    stream_compressed(compressed, source, sink_);
  }

  // --- obs and var
  // -----------------------------------------------------------------------------------------------
  void refuse_old_frame(const std::string& name) const {
    throw BadInput(
        where(name),
        "is in the layout of anndata before 0.7; read the file with anndata in Python and write it again with adata.write_h5ad");
  }

  void read_feature_names() {
    if (!exists(file_, "var")) return;
    if (!is_group(file_, "var", "var")) refuse_old_frame("var");
    const Handle var = open_group(file_, "var", "var");
    std::string index = single_text_attribute(var, "_index", "var");
    if (index.empty()) index = "_index";
    if (!exists(var, index)) return;
    const std::string place = fmt::format("var/{}", index);
    auto names = read_column(var, index, place);
    if (!names || static_cast<Index>(names->values.size()) != columns_) {
      throw BadInput(where(place), fmt::format("has {} names but X has {} columns; write the file again",
                                               names ? names->values.size() : 0, columns_));
    }
    sink_.feature_names(std::move(names->values));
  }

  void read_obs() {
    if (!exists(file_, "obs")) return;
    if (!is_group(file_, "obs", "obs")) refuse_old_frame("obs");
    const Handle obs = open_group(file_, "obs", "obs");
    const std::string index = single_text_attribute(obs, "_index", "obs");
    std::vector<std::string> columns = text_attribute(obs, "column-order", "obs");
    if (columns.empty()) columns = links(obs, "obs");
    for (const std::string& name : columns) {
      if (name == "__categories" || name == "_index" || name == index || !exists(obs, name)) continue;
      const std::string place = fmt::format("obs/{}", name);
      auto column = read_column(obs, name, place);
      if (!column) {
        sink_.note(fmt::format("{} is neither texts nor numbers and is not used", place));
        continue;
      }
      if (static_cast<Index>(column->values.size()) != rows_) {
        throw BadInput(where(place), fmt::format("has {} entries but X has {} rows; write the file again",
                                                 column->values.size(), rows_));
      }
      sink_.side_column({.name = name,
                         .values = std::move(column->values),
                         .first = where(place),
                         .is_label = false,
                         .may_be_ignored = true,
                         .is_numeric = column->is_numeric,
                         .may_be_target = !column->is_numeric});
    }
  }
};

}  // namespace

void decode_h5ad(const std::string& path, TableSink& sink) { H5adDecoder(path, sink).decode(); }

}  // namespace subspectra
