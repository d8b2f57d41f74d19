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

// What made a node.
struct NodeOrigin {
  Chain chain = 0;
  std::uint32_t order = 0; // of the op's event in its thread, see event.h
  bool approximate = false; // the op that was next, not one seen to make it
};

// What made the node with this sequence number on this thread
// (Node::thread_id()); nothing where it was not seen or is too long ago. Known
// while something calls note_nodes: the recorder does.
NodeOrigin origin_of_node(std::uint64_t thread, std::uint64_t sequence);

inline Chain chain_of_node(std::uint64_t thread, std::uint64_t sequence) {
  return origin_of_node(thread, sequence).chain;
}

// The nodes `first` <= n < `end` of the calling thread were made so.
void note_nodes(
    std::uint64_t first,
    std::uint64_t end,
    const NodeOrigin& origin);

// Which set of chains is there: their numbers begin anew with each.
std::uint32_t chain_epoch();

// Chains stay valid until the last of their users has let go.
void acquire_chains();
void release_chains();

} // namespace pyharness::engine
