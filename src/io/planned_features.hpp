#pragma once
/// Features that are made of text columns: planned while the columns are at hand, added to the numbers in the
/// end.
#include "io/assembly.hpp"

namespace subspectra {

/// Which text columns become which features.
void plan_categories(Assembly& assembly);

/// The features of a model that are made of text columns, made again.
void plan_derived(Assembly& assembly);

void add_planned(Assembly& assembly);

}  // namespace subspectra
