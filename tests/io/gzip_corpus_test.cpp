#include "../../fuzz/gzip_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(gzip);
