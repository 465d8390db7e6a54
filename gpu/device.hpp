#pragma once
/// What every part of the plug-in stands on: an opened card, its memory, and errors on the way to the table.
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "device/plugin_abi.h"
#include "portable.hpp"
#include "products.hpp"

struct SubspectraDevice {
  int card = 0;
  GPU(Stream_t) stream = nullptr;
  gpu::Products products;
  SubspectraDevice() = default;
  SubspectraDevice(const SubspectraDevice&) = delete;
  SubspectraDevice& operator=(const SubspectraDevice&) = delete;
  ~SubspectraDevice() {
    (void)GPU(SetDevice)(card);
    if (stream != nullptr) (void)GPU(StreamDestroy)(stream);
  }
};

namespace gpu {

/// What a function of the table answers, on the way there.
struct Failure {
  int code;
  std::string why;
};
[[noreturn]] inline void fail(int code, const char* format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  std::vsnprintf(text, sizeof text, format, list);
  va_end(list);
  throw Failure{code, text};
}
inline void check(GPU(Error_t) error, const char* what) {
  if (error == GPU(Success)) return;
  (void)GPU(GetLastError)();
  fail(error == GPU(ErrorMemoryAllocation) ? SUBSPECTRA_DEVICE_MEMORY : SUBSPECTRA_DEVICE_FAILED, "%s: %s",
       what, GPU(GetErrorString)(error));
}
inline int answer(const Failure& failure, char* why, size_t why_size) {
  if (why != nullptr && why_size > 0) std::snprintf(why, why_size, "%s", failure.why.c_str());
  return failure.code;
}
template <class Body>
int guarded(char* why, size_t why_size, const Body& body) {
  try {
    body();
    return SUBSPECTRA_DEVICE_DONE;
  } catch (const Failure& failure) {
    return answer(failure, why, why_size);
  } catch (const std::bad_alloc&) {
    return answer({SUBSPECTRA_DEVICE_MEMORY, "the host's memory does not suffice"}, why, why_size);
  } catch (const std::exception& error) {
    return answer({SUBSPECTRA_DEVICE_FAILED, error.what()}, why, why_size);
  }
}

/// Memory of the card.
template <class T>
class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { release(); }
  void take(int64_t count, const char* what) {
    release();
    const auto bytes = static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T);
    const auto error = GPU(Malloc)(reinterpret_cast<void**>(&at_), bytes);
    if (error != GPU(Success)) {
      at_ = nullptr;
      (void)GPU(GetLastError)();
      fail(error == GPU(ErrorMemoryAllocation) ? SUBSPECTRA_DEVICE_MEMORY : SUBSPECTRA_DEVICE_FAILED,
           "%s needs %.1f GB of the card's memory: %s", what, static_cast<double>(bytes) / 1e9,
           GPU(GetErrorString)(error));
    }
    count_ = count;
  }
  void release() {
    if (at_ != nullptr) (void)GPU(Free)(at_);
    at_ = nullptr;
    count_ = 0;
  }
  [[nodiscard]] T* get() const { return at_; }
  [[nodiscard]] int64_t count() const { return count_; }

 private:
  T* at_ = nullptr;
  int64_t count_ = 0;
};

template <class T>
void set_zero(const Held<T>& held, GPU(Stream_t) stream) {
  check(GPU(MemsetAsync)(held.get(), 0, static_cast<size_t>(held.count()) * sizeof(T), stream),
        "clearing memory");
}

/// `rows` rows of `row` numbers, `lead` apart where they are and `to_lead` on the card.
inline void upload(double* to, const double* from, int64_t row, int64_t lead, int64_t to_lead, int64_t rows) {
  check(GPU(Memcpy2D)(to, static_cast<size_t>(to_lead) * 8, from, static_cast<size_t>(lead) * 8,
                      static_cast<size_t>(row) * 8, static_cast<size_t>(rows), GPU(MemcpyHostToDevice)),
        "taking the table onto the card");
}

inline void on(const SubspectraDevice& device) { check(GPU(SetDevice)(device.card), "choosing the card"); }

/// Fails where so many bytes are not free.
inline void require_memory(uint64_t bytes, int64_t features) {
  size_t free = 0, all = 0;
  check(GPU(MemGetInfo)(&free, &all), "asking the card");
  if (bytes > free)
    fail(SUBSPECTRA_DEVICE_MEMORY, "%lld features need %.1f GB of the card's memory, but %.1f GB are free",
         static_cast<long long>(features), static_cast<double>(bytes) / 1e9, static_cast<double>(free) / 1e9);
}

inline int64_t padded_to(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// out_jl = times F_j'F_l + before out_jl for j <= l, in rows of `lead`; F: features k apart by factor_lead.
void rank_k(const SubspectraDevice& device, int64_t n, int64_t k, double times, const double* factor,
            int64_t factor_lead, double before, double* out, int64_t lead);

}  // namespace gpu
