#include "../../fuzz/libsvm_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(libsvm);
