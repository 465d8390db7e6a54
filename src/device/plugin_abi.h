/* What a device plug-in and the library that loads it agree on: one table of functions in plain C, so that neither
   side needs the other's compiler or its libraries. A plug-in exports one function, kSubspectraDeviceEntry.

   The plug-in is never trusted with a claim about a set: a scan hands back which sets MAY be above a limit, and
   guarantees that none is missing as far as double arithmetic with the stated margin goes; a pass hands back an
   order of features. Who asked evaluates them anew (src/device/scan.hpp, src/device/pass.hpp, docs/gpu.md). */
#ifndef SUBSPECTRA_DEVICE_PLUGIN_ABI_H
#define SUBSPECTRA_DEVICE_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by any change of what stands below. */
#define SUBSPECTRA_DEVICE_ABI 2

typedef struct SubspectraDevice SubspectraDevice; /* one opened card */
typedef struct SubspectraScan SubspectraScan;     /* one problem on it */
typedef struct SubspectraTable SubspectraTable;   /* columns of numbers on it */
typedef struct SubspectraPass SubspectraPass;     /* one greedy pass on it */

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

/* The criterion of a set with T = M_S' B_S^-1 M_S. */
enum {
  SUBSPECTRA_PASS_LARGEST = 0, /* its largest eigenvalue */
  SUBSPECTRA_PASS_TRACE = 1,
  SUBSPECTRA_PASS_WILKS = 2 /* log det(I + T) */
};
enum { SUBSPECTRA_PASS_DIRECTIONS = 32 }; /* columns of M, at most */

/* A = M M', and B = F'F + shift I, or given, or of a table's columns. Forward: of the features not yet chosen the
   one with the largest criterion is next; backward: starting from all, the one without which the criterion is
   largest. Of criteria that agree to `tie` (relative) the lowest feature. */
typedef struct SubspectraPassProblem {
  int32_t criterion;
  int32_t backward; /* not with a table */
  int64_t features; /* n */
  int64_t rows;     /* of F; 0 where B is given or of a table */
  const double* factor;
  int64_t factor_lead;
  double shift;
  const double* matrix; /* B, symmetric: row j is matrix[j * matrix_lead ...] */
  int64_t matrix_lead;
  /* B_jl = unit_j unit_l sum_i w_i (x_ij - m_cj) (x_il - m_cl) beside the diagonal, m_cj the mean of column j
     weighted by w over the rows of class c; its diagonal is given. Null: another B. */
  SubspectraTable* table;
  const double* diagonal; /* n */
  const double* unit;     /* n, or null for ones */
  const double* weights;  /* w, by row */
  const int32_t* classes; /* by row; negative: no part */
  int32_t class_count;
  int64_t directions;      /* r, 1 to SUBSPECTRA_PASS_DIRECTIONS */
  const double* direction; /* M: direction d is direction[d * n ...] */
  const int8_t* held;      /* n, or null: 1 stays out of the order (backward: in every set) */
  int64_t forced_count;    /* features that come first, in this order */
  const int32_t* forced;
  int64_t most;       /* features in the order, at most */
  double dependent;   /* forward: features of which this part of their variance or less is left are not chosen */
  double singular;    /* backward: B with a pivot up to this part of its diagonal entry is UNSUITED */
  double digits_lost; /* backward: the pass ends when a diagonal entry of B^-1 falls to this part of itself */
  double tie;
} SubspectraPassProblem;

/* How it stands with a pass. */
enum {
  SUBSPECTRA_PASS_RUNNING = 0,
  SUBSPECTRA_PASS_NONE_LEFT = 1,   /* no feature can be next */
  SUBSPECTRA_PASS_DIGITS_LOST = 2, /* start afresh from what is left */
  SUBSPECTRA_PASS_DEPENDENT = 3    /* the next forced feature depends on those before it */
};

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

  /* A table of `rows` x `features` numbers of `bytes` bytes each: 4 or 8. Sums over them are in double precision. */
  int (*table_open)(SubspectraDevice* device, int64_t rows, int64_t features, int bytes, SubspectraTable** table,
                    char* why, size_t why_size);
  void (*table_close)(SubspectraTable* table);
  /* Columns first .. first + count - 1, one after another. */
  int (*table_put)(SubspectraTable* table, int64_t first, int64_t count, const void* numbers, char* why,
                   size_t why_size);

  /* Bytes of the card that a pass will take, beside its table. */
  uint64_t (*pass_bytes)(const SubspectraPassProblem* problem);
  /* Nothing of `problem` is kept but the table, which has to outlive the pass. */
  int (*pass_open)(SubspectraDevice* device, const SubspectraPassProblem* problem, SubspectraPass** pass, char* why,
                   size_t why_size);
  void (*pass_close)(SubspectraPass* pass);
  /* Up to `count` features more: `order` receives them, `done` how many, `state` how it stands. */
  int (*pass_steps)(SubspectraPass* pass, int64_t count, int32_t* order, int64_t* done, int32_t* state, char* why,
                    size_t why_size);
  /* Forward: 1 by feature for those that were found to depend on the chosen ones. */
  int (*pass_dependent)(SubspectraPass* pass, int8_t* dependent, char* why, size_t why_size);
} SubspectraDeviceTable;

#define SUBSPECTRA_DEVICE_ENTRY "subspectra_device_table"
typedef const SubspectraDeviceTable* (*SubspectraDeviceEntry)(void);

#ifdef __cplusplus
}
#endif
#endif
