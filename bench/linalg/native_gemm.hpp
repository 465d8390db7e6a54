#pragma once
/// What this machine can do: kernels compiled for the very CPU that compiles them (native_gemm.cpp). Raw
/// pointers only: nothing that is compiled for this CPU alone may be shared with the rest of the program.
namespace native {

/// C (n x n) = A B by Eigen compiled -march=native, all column-major.
void eigen_gemm(int n, const double* a, const double* b, double* c);

/// Fused multiply-adds in registers with the widest vectors there are; returns how many flops were done.
double fma_flops(long rounds);

}  // namespace native
