#include "../../fuzz/mat_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(mat);
