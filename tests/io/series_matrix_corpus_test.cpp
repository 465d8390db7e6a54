#include "../../fuzz/series_matrix_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(series_matrix);
