#pragma once
#include <string>

#include "io/table_sink.hpp"

namespace subspectra {

void decode_h5ad(const std::string& path, TableSink& sink);
void decode_tenx(const std::string& path, TableSink& sink);
void decode_mat(const std::string& path, TableSink& sink);

}  // namespace subspectra
