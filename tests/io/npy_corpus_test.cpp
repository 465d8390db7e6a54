#include "../../fuzz/npy_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(npy);
