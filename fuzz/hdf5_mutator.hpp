#pragma once
/// Mutations of HDF5 files. A file carries the description it was made from (hdf5_files.hpp) behind its end,
/// where libhdf5 does not look: most mutations change the description and make the file anew, the
/// others write over bytes of the file.
#include <string_view>

#include "hdf5_files.hpp"
#include "mutation.hpp"

namespace subspectra::fuzzing {

inline constexpr std::string_view kDescribed =
    "\nmade from ";  ///< then two bytes with the size of what precedes it

/// libhdf5 gives a large block back to the system when it closes a file and asks for it again with the next
/// one, page by page: most of the time that a small file takes. Here it keeps them.
inline void keep_blocks_of_hdf5() {
  constexpr int kOfStructures = 1 << 20, kOfOneStructure = 1 << 16;  // as they are
  constexpr int kOfArrays = 1 << 22, kOfOneArray = 1 << 18;          // as they are
  constexpr int kOfBlocks = 1 << 28, kOfOneSize = 1 << 25;
  static const herr_t done =
      H5set_free_list_limits(kOfStructures, kOfOneStructure, kOfArrays, kOfOneArray, kOfBlocks, kOfOneSize);
  static_cast<void>(done);
}

/// The description behind the file; empty where there is none.
inline Bytes description_of(std::span<const std::uint8_t> file) {
  const std::size_t mark = kDescribed.size() + 2;
  if (file.size() < mark ||
      std::memcmp(file.data() + file.size() - mark, kDescribed.data(), kDescribed.size()) != 0)
    return {};
  const std::size_t size = file[file.size() - 2] + 256U * file[file.size() - 1];
  if (size > file.size() - mark) return {};
  const auto description = file.subspan(file.size() - mark - size, size);
  return {description.begin(), description.end()};
}

inline Bytes described_file(Hdf5File::Kind kind, const Bytes& description) {
  Bytes file = Hdf5File(kind, description).bytes();
  file.insert(file.end(), description.begin(), description.end());
  file.insert(file.end(), kDescribed.begin(), kDescribed.end());
  file.push_back(static_cast<std::uint8_t>(description.size() % 256));
  file.push_back(static_cast<std::uint8_t>(description.size() / 256));
  return file;
}

inline std::size_t mutate_hdf5(Hdf5File::Kind kind, std::uint8_t* data, std::size_t size, std::size_t most,
                               unsigned seed) {
  constexpr std::size_t kMostDescription = 400;
  Chance chance(seed);
  keep_blocks_of_hdf5();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Bytes file(data, data + size);
  Bytes description = description_of(file);
  const std::size_t dice = below(chance, 16);
  if (dice == 0) return LLVMFuzzerMutate(data, size, most);
  if (description.empty() && dice < 12) {
    description.resize(20 + below(chance, kMostDescription - 20));
    for (auto& byte : description)
      byte = below(chance, 3) == 0 ? std::uint8_t(chance() >> 7U) : std::uint8_t(chance() >> 7U) % 16;
    file = described_file(kind, description);
  } else if (dice < 12) {
    mutate_bytes(description, kMostDescription);
    file = described_file(kind, description);
    if (dice == 1) poke(file, file.size() - description.size(), chance);
  } else {
    poke(file, file.size() - (description.empty() ? 0 : description.size() + kDescribed.size() + 2), chance);
  }
  return mutated(file, data, size, most);
}

}  // namespace subspectra::fuzzing
