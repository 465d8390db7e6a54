#include "../../fuzz/matrix_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(matrix);
