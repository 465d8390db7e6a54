#pragma once
/// Whether samples stand in rows, and the table turned where they do not.
#include "io/assembly.hpp"

namespace subspectra {

/// Features in rows and samples in columns: the other way round from here on.
void transpose_table(Assembly& assembly);

/// Turns the table where the columns that a model needs are the names of rows.
void turn_for_needs(Assembly& assembly);

/// Reads `labels`, and turns the table where the ids in it are the names of columns.
void read_labels(Assembly& assembly);

}  // namespace subspectra
