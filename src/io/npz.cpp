#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "io/npy_array.hpp"
#include "io/random_bytes.hpp"
#include "io/readers.hpp"
#include "io/table_builder.hpp"
#include "io/zip.hpp"

namespace subspectra {
namespace {

struct NamedArray {
  std::string name;
  ZipMember member;
};

class NpzReader {
 public:
  NpzReader(const RandomBytes& file, const ReadOptions& options)
      : file_(file),
        builder_(file.name(), {.most_values = kMostExpansion * static_cast<double>(file.size()),
                               .memory_limit = options.memory_limit.bytes}) {
    for (ZipMember& member : read_zip_directory(file, builder_.memory())) {
      std::string name = member.name;
      if (!name.ends_with(".npy")) {
        builder_.note(fmt::format("member '{}' is not an array and is not read", name));
        continue;
      }
      name.resize(name.size() - 4);
      arrays_.push_back({.name = std::move(name), .member = std::move(member)});
    }
  }

  RawTable read() {
    read_table();
    read_names();
    for (const NamedArray& array : arrays_) {
      if (!used_.contains(array.name)) read_beside(array);
    }
    return builder_.finish();
  }

 private:
  [[nodiscard]] Location where(const std::string& name) const {
    return {.file = file_.name(), .place = fmt::format("array '{}'", name)};
  }
  [[nodiscard]] const NamedArray* find(std::string_view name) const {
    const auto found =
        std::find_if(arrays_.begin(), arrays_.end(), [&](const auto& a) { return a.name == name; });
    return found == arrays_.end() ? nullptr : &*found;
  }
  [[nodiscard]] NpyArray open(const NamedArray& array) const {
    return {open_zip_member(file_, array.member), array.member.size, where(array.name)};
  }

  void read_table() {
    const NamedArray* table = find("X");
    if (table == nullptr && find("data") != nullptr && find("format") != nullptr &&
        find("shape") != nullptr) {
      read_sparse();
      return;
    }
    if (table == nullptr) table = only_table();
    used_.insert(table->name);
    NpyArray array = open(*table);
    if (array.type().kind == 'O' && array.shape().empty()) {
      throw BadInput(
          array.where(),
          "is a Python object (a sparse matrix?), which only Python can read; save it with scipy.sparse.save_npz, or as a dense array");
    }
    array.require_numbers();
    if (array.shape().size() != 2) {
      throw BadInput(
          array.where(),
          fmt::format(
              "is a {} where a table of samples x features (2-D) is needed; save X.reshape(len(X), -1)",
              array.description()));
    }
    builder_.note(fmt::format("array '{}': {}, {} order", table->name, array.description(),
                              array.column_major() ? "Fortran" : "C"));
    stream_dense(array, builder_);
  }

  /// Without an X: the one 2-D array of numbers.
  const NamedArray* only_table() {
    std::vector<const NamedArray*> tables;
    std::vector<std::string> all;
    for (const NamedArray& candidate : arrays_) {
      const NpyArray array = open(candidate);
      if (array.type().is_number() && array.shape().size() == 2) tables.push_back(&candidate);
      if (all.size() < 20) all.push_back(fmt::format("'{}' ({})", candidate.name, array.description()));
    }
    if (tables.size() != 1) {
      throw BadInput(
          {.file = file_.name()},
          fmt::format(
              "has no array 'X', and {} of its arrays could be the table; it holds {}; write it with np.savez(file, X=X, y=y)",
              tables.size(), all.empty() ? "nothing" : fmt::format("{}", fmt::join(all, ", "))));
    }
    builder_.note(
        fmt::format("no array 'X': '{}', the only 2-D array of numbers, is taken", tables.front()->name));
    return tables.front();
  }

  class SparseArrays final : public CompressedSource {
   public:
    SparseArrays(const NpzReader& reader, const NamedArray& data, const NamedArray& indices)
        : reader_(reader), indices_name_(indices), data_(reader.open(data)) {}
    void rewind_indices() override { indices_ = std::make_unique<NpyArray>(reader_.open(indices_name_)); }
    void read_indices(std::span<std::int64_t> into) override { indices_->read_integers(into); }
    void read_values(std::span<double> into) override { data_.read_doubles(into); }
    [[nodiscard]] const NpyArray& data() const { return data_; }
    void finish() {
      data_.finish();
      if (indices_) indices_->finish();
    }

   private:
    const NpzReader& reader_;
    const NamedArray& indices_name_;
    NpyArray data_;
    std::unique_ptr<NpyArray> indices_;
  };

  [[nodiscard]] const NamedArray& required(const char* name) {
    const NamedArray* array = find(name);
    if (array == nullptr) {
      throw BadInput(
          {.file = file_.name()},
          fmt::format(
              "looks like a sparse matrix of scipy.sparse.save_npz but has no array '{}'; write it again with scipy.sparse.save_npz",
              name));
    }
    used_.insert(name);
    return *array;
  }

  /// scipy.sparse.save_npz: data, indices, indptr, shape, format.
  void read_sparse() {
    NpyArray format_array = open(required("format"));
    const std::vector<std::string> format =
        format_array.count() == 1 ? format_array.read_texts(builder_.memory()) : std::vector<std::string>{""};
    if (format.front() != "csr" && format.front() != "csc") {
      throw BadInput(
          where("format"),
          fmt::format(
              "sparse matrices of format '{}' are not read; save X.tocsr() or X.tocsc() with scipy.sparse.save_npz",
              format.front().substr(0, 20)));
    }
    NpyArray shape_array = open(required("shape"));
    if (shape_array.count() != 2)
      throw BadInput(where("shape"), "must be two whole numbers, rows and columns");
    std::array<std::int64_t, 2> shape{};
    shape_array.read_integers(shape);
    NpyArray indptr = open(required("indptr"));
    SparseArrays source(*this, required("data"), required("indices"));
    source.data().require_numbers();
    const NpyArray indices = open(required("indices"));
    if (source.data().shape().size() != 1 || indices.shape().size() != 1 || indptr.shape().size() != 1 ||
        source.data().count() != indices.count()) {
      throw BadInput(
          where("data"),
          "'data' and 'indices' must be 1-D arrays of the same length; write the file again with scipy.sparse.save_npz");
    }
    HeldMemory pointers(builder_.memory());
    pointers.grow(static_cast<std::size_t>(indptr.count()) * sizeof(std::int64_t),
                  {.what = fmt::format("{}: {} row or column pointers", file_.name(), indptr.count()),
                   .advice = "take fewer features or rows, or raise ⟨memory_limit⟩"});
    CompressedShape compressed{.by_rows = format.front() == "csr",
                               .rows = shape[0],
                               .columns = shape[1],
                               .indptr = std::vector<std::int64_t>(static_cast<std::size_t>(indptr.count())),
                               .entries = static_cast<std::int64_t>(source.data().count()),
                               .where = where("data")};
    indptr.read_integers(compressed.indptr);
    indptr.finish();
    builder_.note(fmt::format("sparse {} matrix of {} x {} with {} stored values", format.front(), shape[0],
                              shape[1], compressed.entries));
    stream_compressed(compressed, source, builder_, &builder_.memory());
    source.finish();
  }

  void read_names() {
    const NamedArray* names = find("names");
    if (names == nullptr || used_.contains("names")) return;
    used_.insert("names");
    NpyArray array = open(*names);
    array.require_numbers_or_texts();
    if (array.count() != static_cast<std::uint64_t>(builder_.columns())) {
      throw BadInput(array.where(),
                     fmt::format("has {} entries but the table has {} features; one name a feature is needed",
                                 array.count(), builder_.columns()));
    }
    std::vector<std::string> texts = array.read_texts(builder_.memory());
    array.finish();
    builder_.feature_names(std::move(texts));
  }

  /// An array that is neither the table nor the names: labels, or something `target` and its kin may ask for.
  void read_beside(const NamedArray& entry) {
    NpyArray array = open(entry);
    const bool labels = entry.name == "y";
    const auto rows = static_cast<std::uint64_t>(builder_.rows());
    const auto& shape = array.shape();
    const bool vector =
        shape.size() == 1 || (shape.size() == 2 && (shape[0] == 1 || shape[1] == 1) && labels);
    if (labels) {
      array.require_numbers_or_texts();
      if (!vector || array.count() != rows) {
        throw BadInput(array.where(),
                       fmt::format("is a {} but the table has {} rows; one label a row is needed",
                                   array.description(), rows));
      }
    } else if (!vector || array.count() != rows || !(array.type().is_number() || array.type().is_text())) {
      builder_.note(fmt::format("array '{}' ({}) is not used", entry.name, array.description()));
      return;
    }
    SideColumn column{.name = entry.name,
                      .values = array.read_texts(builder_.memory()),
                      .first = array.where(),
                      .is_label = labels,
                      .may_be_ignored = true,
                      .is_numeric = array.type().is_number()};
    array.finish();
    builder_.side_column(std::move(column));
  }

  const RandomBytes& file_;
  TableBuilder builder_;
  std::vector<NamedArray> arrays_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace

RawTable read_npz(const std::string& path, const ReadOptions& options) {
  const auto file = open_random(path);
  return NpzReader(*file, options).read();
}

RawTable read_npz_bytes(std::string_view content, const std::string& name, const ReadOptions& options) {
  const auto file = memory_random(content, name);
  return NpzReader(*file, options).read();
}

extern const TableReader npz_reader = {.endings = ".npz", .read = read_npz};

}  // namespace subspectra
