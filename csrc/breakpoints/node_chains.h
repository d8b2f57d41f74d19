// Which Python frames made a node, for breakpoints that ask for a module.
#pragma once

#include <csrc/engine/provenance.h>

namespace pyharness::breakpoints {

// Called where an op ends: the nodes that this thread has made since the last
// time are of the frames that call now.
void note_node_chains();

// 0 where the node was not seen, or is too long ago.
engine::Chain chain_of(std::uint64_t thread, std::uint64_t sequence);

} // namespace pyharness::breakpoints
