#include "../../fuzz/messages_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(messages);
