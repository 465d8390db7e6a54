#include "../../fuzz/gct_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(gct);
