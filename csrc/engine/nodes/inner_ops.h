// The ops that run inside of an autograd node without grad mode, the backward's
// own arithmetic, are not announced to anybody's RecordFunction callbacks while
// they are hidden: they are three quarters of what a training step of small ops
// announces.
#pragma once

namespace pyharness::engine {

void hide_inner_ops();
void show_inner_ops();

// Lets the calling thread see such ops now, whoever observes: for a node that
// runs Python, whose ops are the user's own lines. Returns what it was, to be
// put back when the node ends.
bool see_inner_ops_here(bool seen);

// This thread runs a node while this lives. A profiler that has callbacks of
// its own on this thread sees all in it.
class InNode {
 public:
  InNode();
  ~InNode();
  InNode(const InNode&) = delete;
  InNode& operator=(const InNode&) = delete;

 private:
  bool was_profiled_;
};

} // namespace pyharness::engine
