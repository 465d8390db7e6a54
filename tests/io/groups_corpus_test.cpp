#include "../../fuzz/groups_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(groups);
