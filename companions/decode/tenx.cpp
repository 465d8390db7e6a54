/// The .h5 files of 10x Genomics' pipelines, decoded by libhdf5: a group `matrix` with `features` (version
/// 3), or one a genome with `genes` (version 2). The matrix is features x barcodes in compressed columns,
/// which are the compressed rows of the table.
#include <fmt/format.h>

#include "companions/decode/decoders.hpp"
#include "companions/decode/hdf5_reader.hpp"
#include "io/gene_names.hpp"

namespace subspectra {
namespace {

class TenxDecoder : Hdf5Reader {
 public:
  TenxDecoder(const std::string& path, TableSink& sink) : Hdf5Reader(path, sink) {}

  void decode() {
    open("cellranger count (filtered_feature_bc_matrix.h5)");
    const std::string name = group_of_matrix();
    const Handle group = open_group(file_, name, name);
    for (const char* part : {"data", "indices", "indptr", "shape", "barcodes"}) {
      if (!exists(group, part)) damaged(name, fmt::format("'{}' is missing", part));
    }
    read_matrix(group, name);
    read_names(group, name);
    read_barcodes(group, name);
  }

 private:
  std::string group_of_matrix() const {
    if (exists(file_, "matrix") && is_group(file_, "matrix", "matrix")) return "matrix";
    std::vector<std::string> genomes;
    for (const std::string& link : links(file_, "/")) {
      if (!is_group(file_, link, link)) continue;
      if (exists(open_group(file_, link, link), "barcodes")) genomes.push_back(link);
    }
    if (genomes.size() == 1) return genomes.front();
    throw BadInput(
        {.file = path_},
        genomes.empty()
            ? std::string(
                  "has no group 'matrix' with barcodes; of .h5 files those of 10x are read (filtered_feature_bc_matrix.h5); an AnnData file is named .h5ad, or read with ⟨format h5ad⟩")
            : fmt::format("holds {} genomes; write one of them to a file of its own", genomes.size()));
  }

  void read_matrix(const Handle& group, const std::string& name) {
    const auto part = [&](const char* what) { return fmt::format("{}/{}", name, what); };
    const Handle data = open_dataset(group, "data", part("data"));
    const Handle indices = open_dataset(group, "indices", part("indices"));
    const Handle indptr = open_dataset(group, "indptr", part("indptr"));
    if (!is_number(data)) damaged(part("data"), "numbers are needed");
    if (H5Tget_class(type_of(indices).get()) != H5T_INTEGER)
      damaged(part("indices"), "whole numbers are needed");
    if (H5Tget_class(type_of(indptr).get()) != H5T_INTEGER)
      damaged(part("indptr"), "whole numbers are needed");
    const auto shape = read_vector<std::int64_t>(open_dataset(group, "shape", part("shape")),
                                                 H5T_NATIVE_INT64, part("shape"));
    if (shape.size() != 2) damaged(part("shape"), "two numbers are needed");
    const std::uint64_t entries = length_of(data, part("data"));
    if (entries != length_of(indices, part("indices")))
      damaged(name, "'data' and 'indices' differ in length");
    rows_ = shape[1];
    columns_ = shape[0];
    sink_.note(
        fmt::format("10x: sparse, {} cells x {} features, {} stored values", rows_, columns_, entries));
    const CompressedShape compressed{
        .by_rows = true,
        .rows = rows_,
        .columns = columns_,
        .indptr = read_vector<std::int64_t>(indptr, H5T_NATIVE_INT64, part("indptr")),
        .entries = static_cast<std::int64_t>(entries),
        .where = where(name)};
    SparseArrays source(*this, data, indices, name);
    stream_compressed(compressed, source, sink_);
  }

  std::vector<std::string> texts(const Handle& group, const std::string& key, const std::string& place,
                                 Index count) const {
    auto column = read_plain(open_dataset(group, key, place), place);
    if (!column || static_cast<Index>(column->values.size()) != count)
      damaged(place, fmt::format("{} texts are needed", count));
    return std::move(column->values);
  }

  void read_names(const Handle& group, const std::string& name) {
    if (exists(group, "features") && is_group(group, "features", name)) {
      const std::string place = name + "/features";
      const Handle features = open_group(group, "features", place);
      take_names(features, "name", "id", place);
    } else {
      take_names(group, "gene_names", "genes", name);
    }
  }
  void take_names(const Handle& group, const std::string& symbols, const std::string& ids,
                  const std::string& place) {
    if (!exists(group, symbols) && !exists(group, ids)) return;
    auto of = [&](const std::string& key) {
      return texts(group, key, fmt::format("{}/{}", place, key), columns_);
    };
    if (!exists(group, symbols)) return sink_.feature_names(of(ids));
    if (!exists(group, ids)) return sink_.feature_names(of(symbols));
    sink_.feature_names(gene_names(of(symbols), of(ids)));
  }
  void read_barcodes(const Handle& group, const std::string& name) {
    const std::string place = name + "/barcodes";
    sink_.side_column({.name = "barcode",
                       .values = texts(group, "barcodes", place, rows_),
                       .first = where(place),
                       .may_be_ignored = true});
  }
};

}  // namespace

void decode_tenx(const std::string& path, TableSink& sink) { TenxDecoder(path, sink).decode(); }

}  // namespace subspectra
