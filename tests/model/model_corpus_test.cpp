#include "../../fuzz/model_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(model);
