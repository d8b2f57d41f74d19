// Where in Python an op comes from, read from the interpreter's own frames in
// nanoseconds and decoded later.
#pragma once

#include <cstdint>

namespace pyharness::engine {

// A chain is the Python frames below which something is called: code object,
// instruction and, for the frame of an nn.Module's call, the module, innermost
// first. Equal chains have one number; 0 is none (a thread without Python).
using Chain = std::uint32_t;

// The chain that calls now on this thread. Needs no GIL, but takes it once for
// each new chain, to keep what it names alive. Only between acquire_chains and
// release_chains; 0 elsewhere.
Chain current_chain();

// The chain that made the node with this sequence number on this thread
// (Node::thread_id()), 0 where it was not seen. Known while an op observer that
// calls note_nodes is there: the recorder does.
Chain chain_of_node(std::uint64_t thread, std::uint64_t sequence);

// The nodes `first` <= n < `end` of this thread were made below `chain`.
void note_nodes(std::uint64_t first, std::uint64_t end, Chain chain);

// Chains stay valid until the last of their users has let go.
void acquire_chains();
void release_chains();

} // namespace pyharness::engine
