// The autograd nodes of a search for a bad value.
#pragma once

#include <csrc/engine/nodes/nodes.h>

namespace pyharness::engine {

// The one that checks them.
NodeObserver& node_checks();

} // namespace pyharness::engine
