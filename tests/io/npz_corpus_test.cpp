#include "../../fuzz/npz_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(npz);
