// Which Python frames made a node, for breakpoints that ask for a module.
#pragma once

#include <csrc/engine/provenance/provenance.h>

namespace pyharness::breakpoints {

// All of these are told which version of Active was the first that asked for
// modules: what was noted for earlier ones is not valid any more.

// Called where an op begins: nodes that this thread made before anybody asked
// are of frames that nobody knows.
void begin_node_chains(std::uint32_t since);

// Called where an op ends: the nodes that this thread has made since the last
// time are of the frames that call now.
void note_node_chains(std::uint32_t since);

// 0 where the node was not seen, or is too long ago.
engine::Chain
chain_of(std::uint64_t thread, std::uint64_t sequence, std::uint32_t since);

} // namespace pyharness::breakpoints
