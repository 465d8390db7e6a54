#pragma once
/// One source for two vendors: the few names of the runtime that the plug-in uses, as CUDA or HIP spells
/// them.
#include <cstdint>

#if defined(__HIPCC__) || defined(__HIP_PLATFORM_AMD__)
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
