/* What a device plug-in and the library that loads it agree on: one table of functions in plain C, so that neither
   side needs the other's compiler or its libraries. A plug-in exports one function, kSubspectraDeviceEntry.

   The plug-in is never trusted with a claim about a set: it hands back which sets MAY be above a limit, and
   guarantees that none is missing as far as double arithmetic with the stated margin goes; who asked evaluates
   them anew (src/device/scan.hpp, docs/gpu.md). */
#ifndef SUBSPECTRA_DEVICE_PLUGIN_ABI_H
#define SUBSPECTRA_DEVICE_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by any change of what stands below. */
#define SUBSPECTRA_DEVICE_ABI 1

typedef struct SubspectraDevice SubspectraDevice; /* one opened card */
typedef struct SubspectraScan SubspectraScan;     /* one problem on it */

/* What a function answers. `why` receives a sentence for all but SUBSPECTRA_DEVICE_DONE. */
enum {
  SUBSPECTRA_DEVICE_DONE = 0,
  SUBSPECTRA_DEVICE_MEMORY = 1,   /* the card's memory does not suffice */
  SUBSPECTRA_DEVICE_UNSUITED = 2, /* double arithmetic does not settle this problem at this limit */
  SUBSPECTRA_DEVICE_FAILED = 3    /* the driver, the card or a library failed */
};

typedef struct SubspectraDeviceInfo {
  char name[128];       /* "NVIDIA H200" */
  char arithmetic[256]; /* how products are made: which library in which mode, emulation off */
  uint64_t memory;      /* bytes of the card */
  uint64_t memory_free; /* bytes that can be taken now */
} SubspectraDeviceInfo;

/* What makes a set S win, with B_S positive definite and limit as given to scan_prepare. */
enum {
  SUBSPECTRA_SCAN_DEFINITE = 0, /* largest eigenvalue of A_S in the metric B_S > limit: two classes, largest */
  SUBSPECTRA_SCAN_RATIO = 1,    /* log det(A_S + B_S) - log det B_S > limit: wilks */
  SUBSPECTRA_SCAN_TRACE = 2     /* trace of B_S^-1 A_S > limit */
};

/* A = M M', and B = F'F + diag(added) or given; B has a diagonal of ones up to rounding. */
typedef struct SubspectraScanProblem {
  int32_t form;
  int64_t features;    /* n, at least 2 */
  int64_t rows;        /* of F; 0 where B is given */
  const double* factor; /* F: feature j is factor[j * factor_lead ...], `rows` long */
  int64_t factor_lead;
  const double* added; /* n, or null for none */
  const double* matrix; /* B, symmetric, where rows is 0: row j is matrix[j * matrix_lead ...] */
  int64_t matrix_lead;
  int64_t directions;       /* r, columns of M, at least 1 */
  const double* direction;  /* M: direction d is direction[d * n ...] */
  double rounding;          /* by how much an entry of B and of A/limit may be off, roundings of both sides */
  double dependent;         /* pairs with 1 - B_ij^2 up to this are dependent: no set holds them */
} SubspectraScanProblem;

/* Sets that may win, `size` places each, ascending, in no particular order. -1 in the last places stands for
   any features: a set the card cannot settle in doubles stands for all its supersets, whose other features may
   stand anywhere, before it, too. */
typedef struct SubspectraScanList {
  int64_t capacity; /* sets that `sets` has room for */
  int64_t found;    /* above capacity: the list is not complete, and not to be used */
  int32_t* sets;
} SubspectraScanList;

typedef struct SubspectraDeviceTable {
  uint32_t abi;  /* SUBSPECTRA_DEVICE_ABI */
  uint32_t size; /* of this table in bytes */
  const char* name; /* as users write it: "cuda" */

  /* How many cards there are. */
  int (*count)(int* cards, char* why, size_t why_size);
  /* products: file of the library for products of matrices (cuBLAS), or null to use the plug-in's own loops. */
  int (*open)(int card, const char* products, SubspectraDevice** device, char* why, size_t why_size);
  void (*close)(SubspectraDevice* device);
  int (*describe)(SubspectraDevice* device, SubspectraDeviceInfo* info, char* why, size_t why_size);

  /* Bytes of the card that a scan of sets of up to `size` features will take. */
  uint64_t (*scan_bytes)(const SubspectraScanProblem* problem, int size);
  /* Takes F, M or B onto the card, for sets of up to `size` features: 2, 3 or 4. Nothing of `problem` is kept. */
  int (*scan_open)(SubspectraDevice* device, const SubspectraScanProblem* problem, int size, SubspectraScan** scan,
                   char* why, size_t why_size);
  void (*scan_close)(SubspectraScan* scan);
  /* Sets above `limit` are looked for from now on. */
  int (*scan_prepare)(SubspectraScan* scan, double limit, char* why, size_t why_size);
  /* All sets of `size` features whose first, the smallest, lies in first_begin .. first_end - 1. */
  int (*scan_sets)(SubspectraScan* scan, int size, int64_t first_begin, int64_t first_end, SubspectraScanList* list,
                   char* why, size_t why_size);
} SubspectraDeviceTable;

#define SUBSPECTRA_DEVICE_ENTRY "subspectra_device_table"
typedef const SubspectraDeviceTable* (*SubspectraDeviceEntry)(void);

#ifdef __cplusplus
}
#endif
#endif
