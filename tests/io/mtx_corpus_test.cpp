#include "../../fuzz/mtx_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(mtx);
