// Gives each thread of this process the stack that a handler needs where the
// thread's own has overflowed: without one, Linux ends the process and tells
// nobody; Linux, glibc.
#pragma once

namespace pyharness::inspect {

// Gives one to the calling thread, if it has none. `for_good`: until the
// process ends, else until the thread does.
void have_other_stack(bool for_good);

// Has every thread that any library starts from now on begin with one: what
// the libraries call as pthread_create() is ours first. Said again, it looks
// at the libraries that have been loaded since, and costs next to nothing where
// there are none.
void watch_thread_starts();

} // namespace pyharness::inspect
