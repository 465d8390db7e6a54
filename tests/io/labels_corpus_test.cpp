#include "../../fuzz/labels_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(labels);
