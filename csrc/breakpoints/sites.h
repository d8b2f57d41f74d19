// Places in kernels of the user's: found in the loaded libraries, and armed.
#pragma once

#include <csrc/breakpoints/breakpoint.h>

#include <pyharness/breakpoint.h>

#include <vector>

namespace pyharness::breakpoints {

using breakpoint::Site;

// Every place of the libraries that are loaded now, read from their section
// pyharness_sites: no symbol is needed, a stripped library has its places.
std::vector<Site*> all_sites();

// From now on `breakpoint` is tested at `site`, beside others that are there.
void arm(Site& site, Breakpoint& breakpoint);
void disarm(Breakpoint& breakpoint);

} // namespace pyharness::breakpoints
