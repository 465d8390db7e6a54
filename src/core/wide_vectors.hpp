#pragma once
/// For [[gnu::target("avx512f,..." SUBSPECTRA_WIDE_VECTORS)]]: GCC halves vectors of 512 bits unless it is
/// asked not to. clang does not know the word and then leaves the whole attribute out; vectors that are types
/// stay whole there.
#if defined(__clang__)
#define SUBSPECTRA_WIDE_VECTORS ""
#else
#define SUBSPECTRA_WIDE_VECTORS ",prefer-vector-width=512"
#endif
