// The ops that run inside of an autograd node without grad mode, the backward's
// own arithmetic, are not announced to anybody's RecordFunction callbacks while
// they are hidden: they are three quarters of what a training step of small ops
// announces.
#pragma once

namespace pyharness::engine {

void hide_inner_ops();
void show_inner_ops();

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

// While nodes are observed, whoever runs them. Torch sets a thread's
// RecordFunction state before and after each node, mostly to what it is, and
// finds out anew each time whom to call: that is left out.
void keep_unchanged_state();
void set_every_state();

} // namespace pyharness::engine
