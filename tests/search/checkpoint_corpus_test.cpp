#include "../../fuzz/checkpoint_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(checkpoint);
