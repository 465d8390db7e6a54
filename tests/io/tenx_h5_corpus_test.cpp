#include "../../fuzz/tenx_h5_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(tenx_h5);
