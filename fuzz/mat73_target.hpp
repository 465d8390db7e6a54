#pragma once
#include "mat_target.hpp"

/// MAT files of version 7.3 are HDF5, and what is kept of them for the fuzzer is decoded as any other.
inline void fuzz_mat73(std::span<const std::uint8_t> bytes) { fuzz_mat(bytes); }
