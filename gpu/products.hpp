#pragma once
/// Products of matrices by the vendor's library, which is loaded when a card is opened: the plug-in itself
/// needs nothing but the driver.
#include <string>

#include "portable.hpp"

namespace gpu {

class Products {
 public:
  Products() = default;
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products();

  /// False, with a sentence in `why`: it cannot be used. Emulated double precision is switched off.
  bool load(const char* file, GPU(Stream_t) stream, std::string& why);
  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  /// How products are made, for the record.
  [[nodiscard]] const std::string& arithmetic() const { return arithmetic_; }
  /// out_jl = times F_j'F_l + before out_jl, j <= l, in rows of `lead`. F: features k apart by `factor_lead`.
  bool rank_k(int64_t n, int64_t k, double times, const double* factor, int64_t factor_lead, double before,
              double* out, int64_t lead) const;

 private:
  void* library_ = nullptr;
  void* handle_ = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*rank_k_)(void*, int, int, int64_t, int64_t, const double*, const double*, int64_t, const double*,
                 double*, int64_t) = nullptr;
  int (*rank_k_32_)(void*, int, int, int, int, const double*, const double*, int, const double*, double*,
                    int) = nullptr;
  std::string arithmetic_ = "double precision, the plug-in's own loops";
};

}  // namespace gpu
