#include "report/build_info.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <Eigen/Core>
#include <string_view>
#include <thread>

#include "core/parallel.hpp"
#include "core/version.hpp"
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown compiler";
#endif
}

std::string hdf5() {
  const std::string version = hdf5_version();
  return version.empty() ? "no HDF5" : fmt::format("HDF5 {}", version);
}

std::string blas() {
  const auto info = linalg::blas_info();
  std::string why;
  if (info.chosen_by == "subspectra") {
    why = fmt::format("chosen by Subspectra; OpenBLAS alone: {}", info.openblas_alone);
  } else if (info.chosen_by == "openblas") {
    why = "chosen by OpenBLAS";
  } else {
    why = fmt::format("chosen by {}", info.chosen_by);
  }
  return fmt::format("{}, {} kernels ({})", info.library, info.core_type, why);
}

}  // namespace

std::string build_info() {
  return fmt::format(
      "BLAS: {}\n"
      "threads: {} of {} cores\n"
      "compiler: {}\n"
      "libraries: Eigen {}.{}.{}, {}, fmt {}.{}.{}, nlohmann-json {}.{}.{}\n",
      blas(), resolve_threads(0), std::thread::hardware_concurrency(), compiler(), EIGEN_WORLD_VERSION,
      EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, hdf5(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
      FMT_VERSION % 100, NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
      NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace subspectra
