#include "companions/decode/hdf5_reader.hpp"

#include <fmt/format.h>

#include "companions/decode/run.hpp"
#include "io/text_columns.hpp"

namespace subspectra {
namespace {

constexpr hsize_t kMostTile = 1 << 20;  // what one message of the pipe takes
constexpr hsize_t kMostEntries = hsize_t{1} << 40;

/// The dimension a vector runs along: the one that is not 1.
std::size_t along(const Extent& extent) {
  const auto found = std::find_if(extent.begin(), extent.end(), [](std::uint64_t n) { return n != 1; });
  return found == extent.end() ? 0 : static_cast<std::size_t>(found - extent.begin());
}

/// Variable-length text in memory, in the character set it is stored in (HDF5 converts between none).
Handle variable_text(const Handle& stored) {
  Handle memory{H5Tcopy(H5T_C_S1), H5Tclose};
  H5Tset_size(memory.get(), H5T_VARIABLE);
  H5Tset_cset(memory.get(), H5Tget_cset(stored.get()));
  return memory;
}
std::string fixed_text(const char* bytes, std::size_t size) {
  std::string text(bytes, size);
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

herr_t add_link(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* names) {
  auto& list = *static_cast<std::vector<std::string>*>(names);
  list.emplace_back(name);
  return list.size() > 100000 ? -1 : 0;
}

}  // namespace

Handle type_of(const Handle& dataset) { return {H5Dget_type(dataset.get()), H5Tclose}; }
Handle space_of(const Handle& dataset) { return {H5Dget_space(dataset.get()), H5Sclose}; }

H5T_class_t class_of(const Handle& dataset) {
  const H5T_class_t type_class = H5Tget_class(type_of(dataset).get());
  return type_class == H5T_ENUM ? H5T_INTEGER : type_class;
}
bool is_number(const Handle& dataset) {
  const H5T_class_t type_class = class_of(dataset);
  return type_class == H5T_INTEGER || type_class == H5T_FLOAT;
}

Hdf5Reader::Hdf5Reader(const std::string& path, TableSink& sink) : path_(path), sink_(sink) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void Hdf5Reader::open(std::string_view way_out) {
  const Handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  file_ = {H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
  if (!file_) {
    throw BadInput(
        {.file = path_},
        fmt::format(
            "not an HDF5 file that can be read, or one cut short; copy the file again or write it anew with {}",
            way_out));
  }
}

std::vector<std::string> Hdf5Reader::links(const Handle& group, const std::string& place) const {
  std::vector<std::string> names;
  if (H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_link, &names) < 0) {
    damaged(place, "what it holds cannot be listed");
  }
  return names;
}

void Hdf5Reader::damaged(const std::string& place, const std::string& what) const {
  throw BadInput(where(place), fmt::format("damaged: {}; copy the file again or write it anew", what));
}

bool Hdf5Reader::exists(const Handle& parent, const std::string& name) {
  return H5Lexists(parent.get(), name.c_str(), H5P_DEFAULT) > 0;
}

void Hdf5Reader::check_link(const Handle& parent, const std::string& name, const std::string& place) const {
  H5L_info_t info{};
  if (H5Lget_info(parent.get(), name.c_str(), &info, H5P_DEFAULT) < 0) damaged(place, "it is not there");
  if (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT) {
    throw BadInput(where(place), "is a link to another file, which is not followed; write one whole file");
  }
}

bool Hdf5Reader::is_group(const Handle& parent, const std::string& name, const std::string& place) const {
  check_link(parent, name, place);
  H5O_info_t info{};
  if (H5Oget_info_by_name(parent.get(), name.c_str(), &info, H5P_DEFAULT) < 0)
    damaged(place, "cannot be opened");
  return info.type == H5O_TYPE_GROUP;
}

Handle Hdf5Reader::open_group(const Handle& parent, const std::string& name, const std::string& place) const {
  check_link(parent, name, place);
  Handle group{H5Gopen2(parent.get(), name.c_str(), H5P_DEFAULT), H5Gclose};
  if (!group) damaged(place, "cannot be opened as a group");
  return group;
}

Handle Hdf5Reader::open_dataset(const Handle& parent, const std::string& name,
                                const std::string& place) const {
  check_link(parent, name, place);
  Handle dataset{H5Dopen2(parent.get(), name.c_str(), H5P_DEFAULT), H5Dclose};
  if (!dataset) damaged(place, "cannot be opened as an array");
  check_dataset(dataset, place);
  return dataset;
}

void Hdf5Reader::check_dataset(const Handle& dataset, const std::string& place) const {
  const Handle creation{H5Dget_create_plist(dataset.get()), H5Pclose};
  if (!creation) damaged(place, "its layout cannot be read");
  if (H5Pget_layout(creation.get()) == H5D_VIRTUAL || H5Pget_external_count(creation.get()) != 0) {
    throw BadInput(where(place), "keeps its values in other files, which are not read; write one whole file");
  }
  for (int f = 0; f < H5Pget_nfilters(creation.get()); ++f) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 64> filter_name{};
    const H5Z_filter_t filter = H5Pget_filter2(creation.get(), static_cast<unsigned>(f), &flags, &values,
                                               nullptr, filter_name.size(), filter_name.data(), nullptr);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0) {
      throw BadInput(
          where(place),
          fmt::format(
              "is compressed by '{}' (filter {}), which libhdf5 here does not have; write the file again with compression='gzip'",
              filter_name.data(), filter));
    }
  }
  // What is stored must be able to grow into what the shape says.
  const Extent extent = extent_of(dataset, place);
  double bytes = static_cast<double>(H5Tget_size(type_of(dataset).get()));
  for (const std::uint64_t n : extent) bytes *= static_cast<double>(n);
  const auto stored = static_cast<double>(H5Dget_storage_size(dataset.get()));
  const bool whole =
      H5Pget_layout(creation.get()) != H5D_CHUNKED;  // neither filters nor holes; or never written
  if (whole && stored > 0 && stored < bytes) {
    damaged(place, fmt::format("its header speaks of {} values of {} bytes together, but {} are stored",
                               shape_text(extent), bytes, stored));
  }
  if (bytes > kMostExpansion * stored + 4096.0) {
    damaged(place, fmt::format("its header speaks of {} values but only {} bytes are stored",
                               shape_text(extent), stored));
  }
}

Extent Hdf5Reader::extent_of(const Handle& dataset, const std::string& place) const {
  const Handle space = space_of(dataset);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0 || rank > 32) damaged(place, "its shape cannot be read");
  std::array<hsize_t, 32> sizes{};
  H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
  Extent extent(sizes.begin(), sizes.begin() + rank);
  for (const std::uint64_t n : extent) {
    if (n > kMostEntries) damaged(place, fmt::format("its shape {} is absurd", shape_text(extent)));
  }
  return extent;
}

std::uint64_t Hdf5Reader::length_of(const Handle& dataset, const std::string& place) const {
  const Extent extent = extent_of(dataset, place);
  const auto longer = std::count_if(extent.begin(), extent.end(), [](std::uint64_t n) { return n != 1; });
  if (extent.empty() || longer > 1)
    damaged(place, fmt::format("has the shape {} where a vector is needed", shape_text(extent)));
  return extent[along(extent)];
}

std::vector<std::string> Hdf5Reader::text_attribute(const Handle& object, const char* name,
                                                    const std::string& place) const {
  std::vector<std::string> texts;
  if (H5Aexists(object.get(), name) <= 0) return texts;
  const Handle attribute{H5Aopen(object.get(), name, H5P_DEFAULT), H5Aclose};
  const Handle type{H5Aget_type(attribute.get()), H5Tclose};
  const Handle space{H5Aget_space(attribute.get()), H5Sclose};
  const hssize_t n = H5Sget_simple_extent_npoints(space.get());
  if (!attribute || !type || !space || n < 0 || n > 1000000)
    damaged(place, fmt::format("bad attribute '{}'", name));
  if (H5Tget_class(type.get()) != H5T_STRING || n == 0) return texts;
  if (H5Tis_variable_str(type.get()) > 0) {
    const Handle memory = variable_text(type);
    std::vector<char*> pointers(static_cast<std::size_t>(n), nullptr);
    if (H5Aread(attribute.get(), memory.get(), pointers.data()) < 0) {
      damaged(place, fmt::format("bad attribute '{}'", name));
    }
    for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
    H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, pointers.data());
    return texts;
  }
  const std::size_t size = H5Tget_size(type.get());
  if (size == 0 || size > 65536) damaged(place, fmt::format("bad attribute '{}'", name));
  std::string bytes(size * static_cast<std::size_t>(n), '\0');
  if (H5Aread(attribute.get(), type.get(), bytes.data()) < 0)
    damaged(place, fmt::format("bad attribute '{}'", name));
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    texts.push_back(fixed_text(bytes.data() + i * size, size));
  return texts;
}

std::string Hdf5Reader::single_text_attribute(const Handle& object, const char* name,
                                              const std::string& place) const {
  const auto texts = text_attribute(object, name, place);
  return texts.size() == 1 ? texts.front() : std::string();
}

std::optional<std::vector<std::int64_t>> Hdf5Reader::whole_attribute(const Handle& object, const char* name,
                                                                     hssize_t count,
                                                                     const std::string& place) const {
  if (H5Aexists(object.get(), name) <= 0) return std::nullopt;
  const Handle attribute{H5Aopen(object.get(), name, H5P_DEFAULT), H5Aclose};
  const Handle space{H5Aget_space(attribute.get()), H5Sclose};
  const Handle type{H5Aget_type(attribute.get()), H5Tclose};
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  if (!attribute || H5Sget_simple_extent_npoints(space.get()) != count ||
      H5Tget_class(type.get()) != H5T_INTEGER ||
      H5Aread(attribute.get(), H5T_NATIVE_INT64, values.data()) < 0) {
    damaged(place, fmt::format("bad attribute '{}'", name));
  }
  return values;
}

void Hdf5Reader::read_block(const Handle& dataset, hid_t memory_type, hsize_t start, hsize_t n, void* into,
                            const std::string& place) const {
  const Extent extent = extent_of(dataset, place);
  std::vector<hsize_t> starts(extent.size(), 0);
  std::vector<hsize_t> counts(extent.size(), 1);
  starts.at(along(extent)) = start;
  counts.at(along(extent)) = n;
  const Handle space = space_of(dataset);
  const Handle memory{H5Screate_simple(1, &n, nullptr), H5Sclose};
  if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, starts.data(), nullptr, counts.data(), nullptr) < 0 ||
      H5Dread(dataset.get(), memory_type, memory.get(), space.get(), H5P_DEFAULT, into) < 0) {
    decoding::check_room();
    damaged(place, fmt::format("entries {} to {} cannot be read", start, start + n - 1));
  }
}

std::vector<std::string> Hdf5Reader::read_strings(const Handle& dataset, const std::string& place) const {
  const std::uint64_t length = length_of(dataset, place);
  const Handle type = type_of(dataset);
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(length));
  if (H5Tis_variable_str(type.get()) > 0) {
    const Handle memory = variable_text(type);
    std::vector<char*> pointers;
    while (texts.size() < length) {
      const hsize_t n = std::min<hsize_t>(4096, length - texts.size());
      pointers.assign(static_cast<std::size_t>(n), nullptr);
      read_block(dataset, memory.get(), texts.size(), n, pointers.data(), place);
      for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
      const Handle space{H5Screate_simple(1, &n, nullptr), H5Sclose};
      H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, pointers.data());
    }
    return texts;
  }
  const std::size_t size = H5Tget_size(type.get());
  if (size == 0 || size > (std::size_t{1} << 20)) damaged(place, fmt::format("texts of {} bytes", size));
  std::vector<char> bytes;
  while (texts.size() < length) {
    const hsize_t n = std::min<hsize_t>(std::max<std::size_t>(1, kBlock / size), length - texts.size());
    bytes.assign(static_cast<std::size_t>(n) * size, '\0');
    read_block(dataset, type.get(), texts.size(), n, bytes.data(), place);
    for (std::size_t i = 0; i < n; ++i) texts.push_back(fixed_text(bytes.data() + i * size, size));
  }
  return texts;
}

std::optional<Hdf5Reader::Column> Hdf5Reader::read_plain(const Handle& dataset,
                                                         const std::string& place) const {
  const H5T_class_t type_class = class_of(dataset);
  Column column;
  column.is_numeric = true;
  if (type_class == H5T_STRING) return Column{.values = read_strings(dataset, place), .is_numeric = false};
  if (type_class == H5T_FLOAT) {
    for (const double v : read_vector<double>(dataset, H5T_NATIVE_DOUBLE, place)) {
      column.values.push_back(number_or_nothing(v));
    }
    return column;
  }
  if (type_class != H5T_INTEGER) return std::nullopt;
  const Handle type = type_of(dataset);
  if (H5Tget_class(type.get()) == H5T_ENUM) {
    // h5py writes bool so. Read by its own type: not every version converts an enumeration to a number.
    const std::size_t size = H5Tget_size(type.get());
    if (size != 1) return std::nullopt;
    std::vector<signed char> flags(static_cast<std::size_t>(length_of(dataset, place)));
    if (!flags.empty()) read_block(dataset, type.get(), 0, flags.size(), flags.data(), place);
    for (const signed char v : flags) column.values.push_back(fmt::format("{}", static_cast<int>(v)));
    return column;
  }
  if (H5Tget_sign(type.get()) == H5T_SGN_NONE) {
    for (const std::uint64_t v : read_vector<std::uint64_t>(dataset, H5T_NATIVE_UINT64, place)) {
      column.values.push_back(fmt::format("{}", v));
    }
  } else {
    for (const std::int64_t v : read_vector<std::int64_t>(dataset, H5T_NATIVE_INT64, place)) {
      column.values.push_back(fmt::format("{}", v));
    }
  }
  return column;
}

void Hdf5Reader::stream_dense(const std::string& name, TileOrder order) {
  const Handle dataset = open_dataset(file_, name, name);
  const Extent extent = extent_of(dataset, name);
  const hsize_t rows = extent.at(0);
  const hsize_t columns = extent.at(1);
  if (rows == 0 || columns == 0) return;

  // Tiles follow the chunks, and a cache that holds one keeps every chunk from being decompressed twice.
  hsize_t band = std::max<hsize_t>(1, kBlock / columns);
  hsize_t width = std::min<hsize_t>(columns, kMostTile);
  const Handle creation{H5Dget_create_plist(dataset.get()), H5Pclose};
  const Handle access{H5Pcreate(H5P_DATASET_ACCESS), H5Pclose};
  if (H5Pget_layout(creation.get()) == H5D_CHUNKED) {
    std::array<hsize_t, 2> chunk{};
    if (H5Pget_chunk(creation.get(), 2, chunk.data()) != 2 || chunk[0] == 0 || chunk[1] == 0) {
      damaged(name, "its chunks cannot be read");
    }
    const double bytes = static_cast<double>(chunk[0]) * static_cast<double>(chunk[1]) *
                         static_cast<double>(H5Tget_size(type_of(dataset).get()));
    decoding::require_room(2.0 * bytes, where(name), "a chunk of the array");  // as stored and as it is read
    H5Pset_chunk_cache(access.get(), 521, static_cast<std::size_t>(std::min(bytes * 1.5 + 65536.0, 5e9)),
                       1.0);
    band = std::min({chunk[0], rows, kMostTile});
    width = std::min({chunk[1], columns, std::max<hsize_t>(1, kMostTile / band)});
  }
  const Handle reader{H5Dopen2(file_.get(), name.c_str(), access.get()), H5Dclose};
  if (!reader) damaged(name, "cannot be opened");
  const Handle space = space_of(reader);
  std::vector<double> values;
  for (hsize_t row = 0; row < rows; row += band) {
    const hsize_t n = std::min(band, rows - row);
    for (hsize_t column = 0; column < columns; column += width) {
      const hsize_t m = std::min(width, columns - column);
      values.resize(static_cast<std::size_t>(n * m));
      const std::array<hsize_t, 2> start{row, column};
      const std::array<hsize_t, 2> count{n, m};
      const Handle memory{H5Screate_simple(2, count.data(), nullptr), H5Sclose};
      if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) <
              0 ||
          H5Dread(reader.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values.data()) <
              0) {
        decoding::check_room();
        damaged(name, fmt::format("rows {} to {} cannot be read", row, row + n - 1));
      }
      const auto across = static_cast<Index>(n);
      const auto length = static_cast<Index>(m);
      if (order == TileOrder::kRows) {
        sink_.dense_tile(across, length, values);
      } else {
        sink_.dense_tile(length, across, values);
      }
    }
  }
}

}  // namespace subspectra
