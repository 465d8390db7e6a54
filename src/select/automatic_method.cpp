#include <subspectra/error.hpp>
#include <subspectra/searches.hpp>

#include "select/problem.hpp"

namespace subspectra {

/// Never reached: run_method refuses a composite method, and what runs it stands where rows are held out
/// (evaluate/automatic.cpp).
Selection Auto::run(const Problem&, const RunControl&) const {
  throw Error("method auto is run where rows are held out: by fit and evaluate");
}

}  // namespace subspectra
