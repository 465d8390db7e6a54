#pragma once
/// Small HDF5 files as anndata, MATLAB and h5py write them, and such as nobody would write, made by libhdf5
/// itself from a description of one byte a choice (choices.hpp).
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "choices.hpp"

namespace subspectra::fuzzing {

class Hdf5File {
 public:
  enum class Kind { kAnndata, kMatlab, kTenx };

  Hdf5File(Kind kind, std::span<const std::uint8_t> description) : choose_(description) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1024, false);
    H5Pset_meta_block_size(access, 0);
    H5Pset_small_data_block_size(access, 0);
    const bool latest = choose_.pick(2) == 1;
    if (latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    if (!latest) {  // small nodes, small files
      H5Pset_sym_k(creation, 2, 2);
      H5Pset_istore_k(creation, 2);
    }
    matlab_header_ = kind == Kind::kMatlab && !choose_.rarely(3);
    if (matlab_header_) H5Pset_userblock(creation, 512);
    file_ = H5Fcreate("description", H5F_ACC_TRUNC, creation, access);
    H5Pclose(creation);
    H5Pclose(access);
    if (file_ < 0) return;
    if (kind == Kind::kAnndata) {
      anndata();
    } else if (kind == Kind::kTenx) {
      tenx();
    } else {
      matlab();
    }
  }
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  ~Hdf5File() {
    if (file_ >= 0) H5Fclose(file_);
  }

  [[nodiscard]] std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> image;
    if (file_ < 0 || H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) return image;
    const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
    if (size <= 0) return image;
    image.resize(static_cast<std::size_t>(size));
    H5Fget_file_image(file_, image.data(), image.size());
    if (matlab_header_) {  // the image may leave out the user's block
      if (image.size() < 8 || image[0] != 0x89) return image;
      image.insert(image.begin(), 512, std::uint8_t{0});
      std::fill_n(image.begin(), 124, std::uint8_t{' '});
      const std::string words = "MATLAB 7.3 MAT-file, Platform: GLNXA64";
      std::copy(words.begin(), words.end(), image.begin());
      const std::array<std::uint8_t, 4> version = {0, 2, 'I', 'M'};
      std::copy(version.begin(), version.end(), image.begin() + 124);
    }
    return image;
  }

 private:
  using Extent = std::vector<hsize_t>;
  enum class Values { kNumbers, kWhole, kTexts, kFlags, kCharacters, kReferences };

  // --- types
  static hid_t text_type(bool variable, std::size_t size) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, variable ? H5T_VARIABLE : size);
    return type;
  }
  static hid_t flag_type() {
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    const std::int8_t no = 0, yes = 1;
    H5Tenum_insert(type, "FALSE", &no);
    H5Tenum_insert(type, "TRUE", &yes);
    return type;
  }
  hid_t any_type() {
    switch (choose_.pick(8)) {
      case 0:
        return flag_type();
      case 1:
        return text_type(false, 1 + choose_.pick(20));
      case 2:
        return text_type(true, 0);
      case 3: {
        const hid_t type = H5Tcreate(H5T_COMPOUND, 16);
        H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
        H5Tinsert(type, "i", 8, H5T_NATIVE_DOUBLE);
        return type;
      }
      case 4: {
        const Extent two = {2};
        return H5Tarray_create2(H5T_NATIVE_INT16, 1, two.data());
      }
      case 5:
        return H5Tvlen_create(H5T_NATIVE_INT32);
      case 6:
        return H5Tcreate(H5T_OPAQUE, 1 + choose_.pick(9));
      default:
        return H5Tcopy(choose_.pick(2) == 0 ? H5T_STD_REF_OBJ : H5T_STD_B16LE);
    }
  }
  hid_t number_type() {
    const std::array<hid_t, 16> types = {H5T_IEEE_F64LE, H5T_IEEE_F32LE,     H5T_IEEE_F64BE, H5T_IEEE_F32BE,
                                         H5T_STD_I32LE,  H5T_STD_I64LE,      H5T_STD_U8LE,   H5T_STD_I16BE,
                                         H5T_STD_I8LE,   H5T_STD_U16LE,      H5T_STD_U32BE,  H5T_STD_U64LE,
                                         H5T_STD_U64BE,  H5T_NATIVE_LDOUBLE, H5T_STD_I64BE,  H5T_IEEE_F32LE};
    const unsigned at = choose_.pick(types.size());
    const hid_t type = H5Tcopy(types[at]);
    if (at + 1 == types.size()) {  // numpy's half
      H5Tset_fields(type, 15, 10, 5, 0, 10);
      H5Tset_precision(type, 16);
      H5Tset_ebias(type, 15);
      H5Tset_size(type, 2);
    }
    return type;
  }
  hid_t type_for(Values values) {
    if (choose_.rarely(14)) return any_type();
    switch (values) {
      case Values::kNumbers:
        return number_type();
      case Values::kWhole: {
        const std::array<hid_t, 4> types = {H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_I8LE, H5T_STD_U16BE};
        return choose_.rarely(8) ? number_type() : H5Tcopy(types[choose_.pick(types.size())]);
      }
      case Values::kTexts:
        return choose_.pick(2) == 0 ? text_type(true, 0) : text_type(false, 1 + choose_.pick(12));
      case Values::kFlags:
        return flag_type();
      case Values::kCharacters:
        return H5Tcopy(choose_.rarely(5) ? H5T_STD_U32LE : H5T_STD_U16LE);
      default:
        return H5Tcopy(H5T_STD_REF_OBJ);
    }
  }

  // --- arrays
  Extent changed(Extent extent) {
    switch (choose_.byte()) {
      case 255:
        extent.push_back(1 + choose_.pick(2));
        break;
      case 254:
        extent.pop_back();
        break;
      case 253:
        for (auto& n : extent) ++n;
        break;
      case 252:
        extent.front() = 0;
        break;
      case 251:
        extent.front() = choose_.absurd() >> 2U;
        break;
      case 250:
        extent.insert(extent.begin(), 1);
        break;
      case 249:
        extent.assign(33U - choose_.pick(3), 1);
        break;
      default:
        break;
    }
    return extent;
  }
  hid_t layout(const Extent& extent, bool absurd, H5T_class_t type_class) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const unsigned kind = absurd ? 3U : choose_.pick(16);
    H5Pset_fill_time(creation, H5D_FILL_TIME_IFSET);
    if (kind == 2) H5Pset_layout(creation, H5D_COMPACT);
    if (kind >= 3 && kind < 14) {
      Extent chunk = extent;
      for (auto& n : chunk)
        n = absurd ? std::clamp<hsize_t>(n, 1, 64)
                   : std::max<hsize_t>(1, n - std::min<hsize_t>(n, choose_.pick(3)));
      if (!chunk.empty()) H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
      const bool shuffled = choose_.pick(2) == 1, deflated = choose_.pick(2) == 1, summed = choose_.rarely(5);
      const bool offset = choose_.rarely(7), cut = choose_.rarely(7);
      // These two pack whole numbers: behind another filter libhdf5 1.10 writes beyond its own memory while
      // it packs, and the fuzzer would die of the files it makes.
      if (type_class == H5T_INTEGER && offset) {
        H5Pset_scaleoffset(creation, H5Z_SO_INT, 0);
      } else if (type_class == H5T_INTEGER && cut) {
        H5Pset_nbit(creation);
      }
      if (shuffled) H5Pset_shuffle(creation);
      if (deflated) H5Pset_deflate(creation, 1);
      if (summed) H5Pset_fletcher32(creation);
      if (choose_.rarely(16)) H5Pset_filter(creation, 32001, H5Z_FLAG_OPTIONAL, 0, nullptr);
    }
    if (kind == 14) H5Pset_external(creation, "/etc/passwd", 0, H5F_UNLIMITED);
    if (kind == 15) {
      const hid_t space = H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr);
      H5Pset_virtual(creation, space, choose_.pick(2) == 0 ? "other.h5" : ".", "/X", space);
      H5Sclose(space);
    }
    return creation;
  }
  /// The values of one array as the file has them, or as a type of memory that converts.
  void fill(hid_t dataset, hid_t type, hsize_t count, Values values, const std::vector<std::int64_t>* given) {
    if (choose_.rarely(20) || count > 4096) return;  // never written
    const auto whole = [&](hsize_t i) {
      if (given != nullptr && i < given->size() && !choose_.rarely(24)) return (*given)[i];
      return choose_.rarely(16) ? static_cast<std::int64_t>(choose_.absurd())
                                : static_cast<std::int64_t>(choose_.pick(4));
    };
    const H5T_class_t type_class = H5Tget_class(type);
    if (type_class == H5T_STRING) {
      write_texts(type, count, [&](hid_t memory, const void* texts) {
        H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts);
      });
    } else if (type_class == H5T_ENUM) {
      std::vector<std::int8_t> flags(count);
      for (auto& flag : flags) flag = static_cast<std::int8_t>(choose_.rarely(20) ? 7 : choose_.pick(2));
      H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flags.data());
    } else if (type_class == H5T_REFERENCE) {
      std::vector<hobj_ref_t> references(count, hobj_ref_t{0});
      for (std::size_t i = 0; i < references.size(); ++i) {
        if (choose_.rarely(12)) {
          references[i] = static_cast<hobj_ref_t>(choose_.absurd());
        } else if (!cells_.empty()) {
          H5Rcreate(&references[i], file_, cells_[(i + choose_.pick(2)) % cells_.size()].c_str(), H5R_OBJECT,
                    -1);
        }
      }
      H5Dwrite(dataset, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data());
    } else if (type_class == H5T_INTEGER || type_class == H5T_FLOAT) {
      if (values == Values::kNumbers) {
        std::vector<double> numbers(count);
        for (double& x : numbers) x = choose_.number();
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
      } else {
        std::vector<std::int64_t> numbers(count);
        for (std::size_t i = 0; i < numbers.size(); ++i)
          numbers[i] = values == Values::kCharacters ? 'a' + choose_.byte() % 120 * 9 : whole(i);
        H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
      }
    } else if (type_class != H5T_VLEN) {
      const std::vector<std::uint8_t> raw(count * H5Tget_size(type), std::uint8_t{0x41});
      H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.data());
    }
  }
  std::string some_text() {
    static const std::array<const char*, 8> kTexts = {"a",        "b",   "cell 1",   "",
                                                      "\xc3\xbc", "NaN", "\xff\xfe", "-1e5"};
    const std::uint8_t at = choose_.byte();
    return at < 250 ? kTexts[at % kTexts.size()] : std::string(static_cast<std::size_t>(at), 'x');
  }
  template <class Write>
  void write_texts(hid_t type, hsize_t count, Write&& write) {
    std::vector<std::string> texts;
    for (hsize_t i = 0; i < count; ++i) texts.push_back(some_text());
    if (H5Tis_variable_str(type) > 0) {
      std::vector<const char*> pointers;
      for (const auto& text : texts) pointers.push_back(text.c_str());
      write(type, pointers.data());
      return;
    }
    const std::size_t size = H5Tget_size(type);
    std::string flat;
    for (auto& text : texts) {
      text.resize(size, '\0');
      flat += text;
    }
    write(type, flat.data());
  }
  void dataset(hid_t parent, const char* name, const Extent& wanted, Values values,
               const std::vector<std::int64_t>* given = nullptr) {
    if (choose_.rarely(32)) return linked(parent, name);
    const Extent extent = changed(wanted);
    hsize_t count = 1;
    bool absurd = false;
    for (const hsize_t n : extent) {
      absurd = absurd || n > 4096 || __builtin_mul_overflow(count, n, &count);
    }
    if (absurd) count = 5000;
    const hid_t type = type_for(values);
    const bool scalar = extent.empty();
    const hid_t space = scalar ? H5Screate(choose_.pick(2) == 0 ? H5S_SCALAR : H5S_NULL)
                        : extent.size() <= 32
                            ? H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr)
                            : H5Screate(H5S_NULL);
    const hid_t creation = layout(scalar ? Extent{1} : extent, absurd, H5Tget_class(type));
    const hid_t made =
        H5Dcreate2(parent, name, type, space, H5P_DEFAULT, scalar ? H5P_DEFAULT : creation, H5P_DEFAULT);
    if (made >= 0) {
      const bool here = H5Pget_external_count(creation) == 0 && H5Pget_layout(creation) != H5D_VIRTUAL;
      if (here && H5Sget_simple_extent_npoints(space) > 0) fill(made, type, count, values, given);
      if (matlab_header_ && values != Values::kReferences)
        mark(made, values == Values::kCharacters ? "char" : values == Values::kWhole ? "int32" : "double");
      if (matlab_header_ && values == Values::kReferences) mark(made, "cell");
      H5Dclose(made);
    }
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
  }
  /// A name that leads somewhere else, or nowhere.
  void linked(hid_t parent, const char* name) {
    switch (choose_.pick(5)) {
      case 0:
        H5Lcreate_soft("/X", parent, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
      case 1:
        H5Lcreate_soft(name, parent, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
      case 2:
        H5Lcreate_external("other.h5", "/X", parent, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
      case 3:
        H5Lcreate_hard(file_, "/", parent, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
      default: {
        const hid_t type = number_type();
        H5Tcommit2(parent, name, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Tclose(type);
      }
    }
  }
  hid_t group(hid_t parent, const char* name) {
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  }

  // --- attributes
  void attribute(hid_t object, const char* name, hid_t type, hsize_t count, const void* data, hid_t memory) {
    const hid_t space =
        count == 1 && choose_.pick(4) != 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
    const hid_t made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (made >= 0) {
      H5Awrite(made, memory, data);
      H5Aclose(made);
    }
    H5Sclose(space);
  }
  void text_attribute(hid_t object, const char* name, const std::string& text) {
    if (choose_.rarely(24)) return whole_attribute(object, name, {1});
    const bool variable = choose_.pick(2) == 0;
    const hid_t type = text_type(variable, std::max<std::size_t>(1, text.size()));
    const char* pointer = text.c_str();
    attribute(object, name, type, 1, variable ? static_cast<const void*>(&pointer) : pointer, type);
    H5Tclose(type);
  }
  void text_list_attribute(hid_t object, const char* name, const std::vector<const char*>& texts) {
    if (choose_.rarely(8) || texts.empty()) return;
    const hid_t type = text_type(true, 0);
    attribute(object, name, type, texts.size(), texts.data(), type);
    H5Tclose(type);
  }
  void whole_attribute(hid_t object, const char* name, std::vector<std::int64_t> values) {
    if (choose_.rarely(24)) return;
    for (auto& value : values) {
      if (choose_.rarely(24)) value = static_cast<std::int64_t>(choose_.absurd());
    }
    if (choose_.rarely(32)) values.push_back(1);
    const hid_t type = H5Tcopy(choose_.rarely(24) ? H5T_IEEE_F64LE : H5T_STD_I64LE);
    attribute(object, name, type, values.size(), values.data(), H5T_NATIVE_INT64);
    H5Tclose(type);
  }
  /// As MATLAB names the class of an array.
  void mark(hid_t object, const char* words) {
    if (choose_.rarely(12)) return;
    const std::array<const char*, 8> others = {"logical", "struct",          "cell", "single", "string",
                                               "uint8",   "function_handle", ""};
    const std::string name = choose_.rarely(8) ? others[choose_.pick(others.size())] : words;
    const hid_t type = text_type(false, name.size() + 1);
    if (choose_.rarely(8)) H5Tset_strpad(type, H5T_STR_SPACEPAD);
    attribute(object, "MATLAB_class", type, 1, name.c_str(), type);
    H5Tclose(type);
    if (choose_.rarely(12)) whole_attribute(object, "MATLAB_empty", {1});
    if (choose_.rarely(12))
      whole_attribute(object, "MATLAB_int_decode", {1 + static_cast<std::int64_t>(choose_.pick(3))});
  }

  // --- sparse matrices
  /// Pointers and indices of a matrix of `outer` lines, `inner` places in each.
  void compressed(hid_t parent, hsize_t outer, hsize_t inner, const char* indices, const char* indptr) {
    std::vector<std::int64_t> pointers = {0}, places;
    for (hsize_t i = 0; i < outer; ++i) {
      const unsigned count = choose_.pick(static_cast<unsigned>(inner) + 1);
      for (unsigned e = 0; e < count; ++e)
        places.push_back(
            static_cast<std::int64_t>(choose_.rarely(8) ? choose_.pick(static_cast<unsigned>(inner)) : e));
      pointers.push_back(static_cast<std::int64_t>(places.size()));
    }
    const Extent entries = {places.size()};
    dataset(parent, "data", entries, Values::kNumbers);
    dataset(parent, indices, entries, Values::kWhole, &places);
    dataset(parent, indptr, {outer + 1}, Values::kWhole, &pointers);
  }

  // --- whole files
  void column(hid_t frame, const char* name, hsize_t length) {
    switch (choose_.pick(7)) {
      case 0:
        return dataset(frame, name, {length}, Values::kTexts);
      case 1:
        return dataset(frame, name, {length}, Values::kNumbers);
      case 2:
        return dataset(frame, name, {length}, Values::kFlags);
      case 3:
      case 4: {
        const hid_t categorical = group(frame, name);
        if (categorical < 0) return;
        text_attribute(categorical, "encoding-type", "categorical");
        dataset(categorical, "categories", {4}, Values::kTexts);
        if (!choose_.rarely(16)) dataset(categorical, "codes", {length}, Values::kWhole);
        H5Gclose(categorical);
        return;
      }
      case 5: {
        const hid_t nullable = group(frame, name);
        if (nullable < 0) return;
        dataset(nullable, "values", {length}, choose_.pick(2) == 0 ? Values::kWhole : Values::kFlags);
        if (!choose_.rarely(16)) dataset(nullable, "mask", {length}, Values::kFlags);
        H5Gclose(nullable);
        return;
      }
      default: {  // before anndata 0.8
        const hid_t all = group(frame, "__categories");
        if (all >= 0) {
          dataset(all, name, {4}, Values::kTexts);
          H5Gclose(all);
        }
        dataset(frame, name, {length}, Values::kWhole);
      }
    }
  }
  void frame(const char* name, hsize_t length, unsigned columns) {
    if (choose_.rarely(20)) return dataset(file_, name, {length}, Values::kNumbers);
    const hid_t made = group(file_, name);
    if (made < 0) return;
    text_attribute(made, "_index", choose_.rarely(8) ? "names" : "_index");
    dataset(made, choose_.rarely(8) ? "names" : "_index", {length}, Values::kTexts);
    const std::array<const char*, 3> names = {"kind", "batch", "age"};
    std::vector<const char*> order;
    for (unsigned c = 0; c < columns; ++c) {
      column(made, names[c], length);
      order.push_back(names[c]);
    }
    if (choose_.rarely(16)) order.push_back("nowhere");
    text_list_attribute(made, "column-order", order);
    H5Gclose(made);
  }
  void anndata() {
    const hsize_t rows = 1 + choose_.pick(5), columns = 1 + choose_.pick(4);
    if (choose_.pick(2) == 0) {
      dataset(file_, "X", {rows, columns}, Values::kNumbers);
    } else {
      const hid_t x = group(file_, "X");
      const bool by_rows = choose_.pick(2) == 0;
      const bool old = choose_.rarely(4);
      text_attribute(x, old ? "h5sparse_format" : "encoding-type",
                     old       ? (by_rows ? "csr" : "csc")
                     : by_rows ? "csr_matrix"
                               : "csc_matrix");
      whole_attribute(x, old ? "h5sparse_shape" : "shape",
                      {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
      compressed(x, by_rows ? rows : columns, by_rows ? columns : rows, "indices", "indptr");
      H5Gclose(x);
    }
    if (!choose_.rarely(8)) frame("obs", rows, choose_.pick(4));
    if (!choose_.rarely(8)) frame("var", columns, choose_.pick(2));
  }
  /// As Cell Ranger writes it, features x cells in compressed columns.
  void tenx() {
    const hsize_t cells = 1 + choose_.pick(5), features = 1 + choose_.pick(4);
    const bool old = choose_.rarely(4);
    const hid_t matrix = group(file_, old ? "GRCh38" : "matrix");
    if (matrix < 0) return;
    const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(features),
                                             static_cast<std::int64_t>(cells)};
    if (!choose_.rarely(16)) dataset(matrix, "shape", {2}, Values::kWhole, &shape);
    compressed(matrix, cells, features, "indices", "indptr");
    if (!choose_.rarely(16)) dataset(matrix, "barcodes", {cells}, Values::kTexts);
    if (old) {
      dataset(matrix, "genes", {features}, Values::kTexts);
      dataset(matrix, "gene_names", {features}, Values::kTexts);
    } else if (const hid_t about = group(matrix, "features"); about >= 0) {
      dataset(about, "id", {features}, Values::kTexts);
      if (!choose_.rarely(4)) dataset(about, "name", {features}, Values::kTexts);
      H5Gclose(about);
    }
    H5Gclose(matrix);
  }
  void cell_contents(unsigned count) {
    const hid_t refs = group(file_, "#refs#");
    if (refs < 0) return;
    for (unsigned i = 0; i < count; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      const unsigned kind = choose_.pick(6);
      dataset(refs, name.c_str(), {1U + (kind < 4 ? choose_.pick(4) : 0U), 1},
              kind < 4    ? Values::kCharacters
              : kind == 4 ? Values::kNumbers
                          : Values::kReferences);
      cells_.push_back("/#refs#/" + name);
    }
    H5Gclose(refs);
  }
  void beside(const char* name, hsize_t length) {
    switch (choose_.pick(5)) {
      case 0:
        return dataset(file_, name, {1, length}, Values::kNumbers);
      case 1:
        return dataset(file_, name, {1U + choose_.pick(4), length}, Values::kCharacters);
      case 2:
        return dataset(file_, name, {1, length}, Values::kReferences);
      case 3:
        return dataset(file_, name, {length}, Values::kTexts);
      default:
        return dataset(file_, name, {length, 1}, Values::kWhole);
    }
  }
  void matlab() {
    const hsize_t rows = 1 + choose_.pick(5), columns = 1 + choose_.pick(4);
    if (choose_.pick(2) == 1) cell_contents(1 + choose_.pick(5));
    const unsigned kind = choose_.pick(8);
    if (kind < 5) {
      dataset(file_, "X", {columns, rows}, kind == 4 ? Values::kWhole : Values::kNumbers);
    } else {
      const hid_t x = group(file_, "X");
      mark(x, kind == 7 ? "struct" : "double");
      if (kind < 7) whole_attribute(x, "MATLAB_sparse", {static_cast<std::int64_t>(rows)});
      compressed(x, columns, rows, "ir", "jc");
      H5Gclose(x);
    }
    if (!choose_.rarely(4)) beside(choose_.pick(2) == 0 ? "Y" : "y", rows);
    if (choose_.pick(2) == 1) beside("names", columns);
    if (choose_.pick(4) == 1) beside("other", rows);
  }

  ByteChoices choose_;
  hid_t file_ = -1;
  bool matlab_header_ = false;
  std::vector<std::string> cells_;
};

}  // namespace subspectra::fuzzing
