#pragma once
/// Greedy passes and the tables they read: the functions of the table (src/device/plugin_abi.h).
#include "device/plugin_abi.h"

namespace gpu {

int table_open(SubspectraDevice* device, int64_t rows, int64_t features, int bytes, SubspectraTable** table,
               char* why, size_t why_size);
void table_close(SubspectraTable* table);
int table_put(SubspectraTable* table, int64_t first, int64_t count, const void* numbers, char* why,
              size_t why_size);
uint64_t pass_bytes(const SubspectraPassProblem* problem);
int pass_open(SubspectraDevice* device, const SubspectraPassProblem* problem, SubspectraPass** pass,
              char* why, size_t why_size);
void pass_close(SubspectraPass* pass);
int pass_steps(SubspectraPass* pass, int64_t count, int32_t* order, int64_t* done, int32_t* state, char* why,
               size_t why_size);
int pass_dependent(SubspectraPass* pass, int8_t* dependent, char* why, size_t why_size);

}  // namespace gpu
