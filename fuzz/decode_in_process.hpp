#pragma once
/// MAT and HDF5 files decoded in the fuzzer's own process, which sees the coverage of our decoders and takes
/// a tenth of the time that a program of their own takes. The tests replay the same inputs through that
/// program (h5ad_target.hpp), which is what users get: there a library that crashes is a refusal in words.
#include <hdf5.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "companions/decode/decoders.hpp"
#include "companions/decode/run.hpp"
#include "io/table_builder.hpp"
#include "outcome.hpp"
#include "subspectra/error.hpp"
#include "temporary_input.hpp"

namespace subspectra::decoding {

// What the frame of the decoding program says by its limit on the address space, of which a sanitizer takes
// all. The room here is what a single allocation may have under a fuzzer (max_allocation_size_mb,
// fuzz/run.py).
void require_room(double bytes, const Location& where, std::string_view what) {
  constexpr double kRoom = 1 << 30;
  if (bytes > kRoom) throw BadInput(where, std::string(what) + " needs more memory than there is");
}

void check_room() {}

}  // namespace subspectra::decoding

namespace subspectra::fuzzing {

/// Files, arrays, groups, types and attributes that libhdf5 has open.
inline ssize_t open_in_hdf5() { return H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL); }

inline void decode_in_process(std::span<const std::uint8_t> bytes,
                              void (*decode)(const std::string& path, TableSink& sink)) {
  static const bool silent = [] {
    H5dont_atexit();  // which would look again at what damaged files have left
    ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return true;
  }();
  static_cast<void>(silent);
  if (bytes.empty()) return;
  const ReadOptions options = small_memory();
  const TemporaryInput file(bytes);
  const ssize_t open_before = open_in_hdf5();  // what the library has lost with damaged files before this one
  bool read_to_the_end = false;
  outcome_of([&] {
    TableBuilder builder("input", {.most_values = kMostExpansion * static_cast<double>(bytes.size()),
                                   .memory_limit = options.memory_limit.bytes});
    try {
      decode(file.path(), builder);
    } catch (const Error&) {
      throw;
    } catch (
        const std::exception& failure) {  // as the frame of the program has it (companions/decode/run.cpp)
      throw BadInput(failure.what());
    }
    read_to_the_end = true;
    return assemble(builder.finish(), options);
  });
  if (const ssize_t left = open_in_hdf5() - open_before; read_to_the_end && left > 0) {
    std::fprintf(stderr, "%zd objects of libhdf5 are left open\n", left);
    std::abort();
  }
}

}  // namespace subspectra::fuzzing
