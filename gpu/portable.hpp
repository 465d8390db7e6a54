#pragma once
/// One source for two vendors, and for tests that have no card: the few names of the runtime that the plug-in
/// uses, as CUDA, HIP or the emulation (tests/device/emulated_card.hpp) spells them.
#include <cstdint>

#if defined(SUBSPECTRA_EMULATED_CARD)
#include "emulated_card.hpp"
#define GPU(name) emulated##name
#define GPU_VENDOR "cuda"
#elif defined(__HIPCC__) || defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#define GPU_VENDOR "hip"
using DeviceProperties = hipDeviceProp_t;
#else
#include <cuda_runtime.h>
#if defined(__CUDACC__)
#include <cuda_pipeline.h>
#endif
#define GPU(name) cuda##name
#define GPU_VENDOR "cuda"
using DeviceProperties = cudaDeviceProp;
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
/// Sixteen bytes from the card's memory into a block's, without waiting; gpu_commit() ends a batch, and
/// gpu_wait<n>() waits until at most n batches are under way. HIP has no such copies: it copies at once.
__device__ inline void gpu_copy16(void* to, const void* from) {
#if defined(__HIPCC__)
  *static_cast<double2*>(to) = *static_cast<const double2*>(from);
#else
  __pipeline_memcpy_async(to, from, 16);
#endif
}
__device__ inline void gpu_commit() {
#if !defined(__HIPCC__)
  __pipeline_commit();
#endif
}
template <int kUnderWay>
__device__ inline void gpu_wait() {
#if !defined(__HIPCC__)
  __pipeline_wait_prior(kUnderWay);
#endif
}

/// The upper half of a double: its sign is that of the number, and the processor of integers, which has
/// nothing else to do, can look at it.
__device__ inline int upper_half(double x) { return __double2hiint(x); }
__device__ inline double magnitude(double x) {
  return __hiloint2double(__double2hiint(x) & 0x7fffffff, __double2loint(x));
}
/// Smallest and largest of numbers that are not negative: their bits are ordered as they are.
__device__ inline void atomic_smallest(double* at, double x) {
  atomicMin(reinterpret_cast<unsigned long long*>(at),
            static_cast<unsigned long long>(__double_as_longlong(x)));
}
__device__ inline void atomic_largest(double* at, double x) {
  atomicMax(reinterpret_cast<unsigned long long*>(at),
            static_cast<unsigned long long>(__double_as_longlong(x)));
}
#endif

namespace gpu {

#if defined(SUBSPECTRA_EMULATED_CARD)
inline constexpr int kPassThreads = emulated::kThreads, kWarp = 1;
#elif defined(__HIPCC__)
inline constexpr int kPassThreads = 256, kWarp = 64;
#else
inline constexpr int kPassThreads = 256, kWarp = 32;
#endif

#if defined(SUBSPECTRA_EMULATED_CARD)
template <class... P, class... A>
void launch(void (*kernel)(P...), int64_t blocks, GPU(Stream_t) /*stream*/, A&&... arguments) {
  emulated::run(static_cast<unsigned int>(blocks), [&] { kernel(static_cast<P>(arguments)...); });
}
inline double sum_over_warp(double x) { return x; }
#elif defined(__CUDACC__) || defined(__HIPCC__)
/// kernel(arguments...) by so many blocks of kPassThreads.
template <class... P, class... A>
void launch(void (*kernel)(P...), int64_t blocks, GPU(Stream_t) stream, A&&... arguments) {
  // clang-format off
  kernel<<<static_cast<unsigned int>(blocks), kPassThreads, 0, stream>>>(static_cast<P>(arguments)...);
  // clang-format on
}
/// The sum over a warp, in its first thread.
__device__ inline double sum_over_warp(double x) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
#if defined(__HIPCC__)
    x += __shfl_down(x, step);
#else
    x += __shfl_down_sync(0xffffffffU, x, step);
#endif
  }
  return x;
}
#endif

}  // namespace gpu
