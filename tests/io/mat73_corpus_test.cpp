#include "../../fuzz/mat73_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(mat73);
