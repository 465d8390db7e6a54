#include "products.hpp"

#include <dlfcn.h>

#include <cstdio>

namespace gpu {
namespace {

// The few values of cublas_api.h that are used; they are part of its binary interface.
constexpr int kLower = 0, kTransposed = 1, kPedantic = 2, kSuccess = 0;

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Products::~Products() {
  if (handle_ != nullptr) (void)destroy_(handle_);
  // The library stays: what it registered at its start does not survive being taken out.
}

bool Products::load(const char* file, GPU(Stream_t) stream, std::string& why) {
  library_ = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    why = ::dlerror();
    return false;
  }
  int (*create)(void**) = nullptr;
  int (*set_stream)(void*, GPU(Stream_t)) = nullptr;
  int (*set_mode)(void*, int) = nullptr;
  int (*mode)(void*, int*) = nullptr;
  int (*version)(void*, int*) = nullptr;
  const bool complete =
      find(library_, "cublasCreate_v2", create) && find(library_, "cublasDestroy_v2", destroy_) &&
      find(library_, "cublasSetStream_v2", set_stream) && find(library_, "cublasSetMathMode", set_mode) &&
      find(library_, "cublasGetMathMode", mode) && find(library_, "cublasGetVersion_v2", version) &&
      (find(library_, "cublasDsyrk_v2_64", rank_k_) || find(library_, "cublasDsyrk_v2", rank_k_32_));
  if (!complete) {
    why = std::string(file) + " lacks functions of cuBLAS that are needed";
    return false;
  }
  int number = 0, in_use = -1;
  if (create(&handle_) != kSuccess || handle_ == nullptr) {
    handle_ = nullptr;
    why = std::string(file) + " could not be started on the card";
    return false;
  }
  // Pedantic: the prescribed precision in every step, so no double made of halves or of integers, whatever
  // the environment asks for.
  if (set_stream(handle_, stream) != kSuccess || set_mode(handle_, kPedantic) != kSuccess ||
      mode(handle_, &in_use) != kSuccess || in_use != kPedantic || version(handle_, &number) != kSuccess) {
    (void)destroy_(handle_);
    handle_ = nullptr;
    why = std::string(file) + " does not promise plain double precision";
    return false;
  }
  char text[160];
  std::snprintf(text, sizeof text, "double precision, cuBLAS %d.%d.%d in its pedantic mode (no emulation)",
                number / 10000, number / 100 % 100, number % 100);
  arithmetic_ = text;
  return true;
}

bool Products::rank_k(int64_t n, int64_t k, double times, const double* factor, int64_t factor_lead,
                      double before, double* out, int64_t lead) const {
  // The lower triangle by columns is the upper one by rows.
  if (rank_k_ != nullptr)
    return rank_k_(handle_, kLower, kTransposed, n, k, &times, factor, factor_lead, &before, out, lead) ==
           kSuccess;
  return rank_k_32_(handle_, kLower, kTransposed, static_cast<int>(n), static_cast<int>(k), &times, factor,
                    static_cast<int>(factor_lead), &before, out, static_cast<int>(lead)) == kSuccess;
}

}  // namespace gpu
