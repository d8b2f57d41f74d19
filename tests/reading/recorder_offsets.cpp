// Prints where the members lie that pyharness/reading/collectives/layout.py has, for the torch whose headers it sees.
#include <torch/csrc/distributed/c10d/FlightRecorder.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/profiler/combined_traceback.h>

#include <unistd.h>

#include <cstddef>
#include <cstdio>

using Recorder = c10d::FlightRecorder<c10::Event>;
using Entry = Recorder::Entry;

static void print(const char* name, std::size_t value) {
  std::printf("%s %zu\n", name, value);
}

// The header's constants are made by functions of torch, which is not linked: this runs before, and ends the program.
__attribute__((constructor(101))) static void measure() {
  print("entries", offsetof(Recorder, entries_));
  print("capacity", offsetof(Recorder, max_entries_));
  print("count", offsetof(Recorder, id_));
  print("entry_size", sizeof(Entry));
  print("group_name", offsetof(Entry, pg_name_));
  print("sequence", offsetof(Entry, collective_seq_id_));
  print("message_sequence", offsetof(Entry, p2p_seq_id_));
  print("operation", offsetof(Entry, profiling_name_));
  print("traceback", offsetof(Entry, traceback_));
  print("created", offsetof(Entry, time_created_));
  print("timeout", offsetof(Entry, timeout_ms_));
  print("is_message", offsetof(Entry, isP2P_));
  print("started", offsetof(Entry, time_discovered_started_));
  print("completed", offsetof(Entry, time_discovered_completed_));
  print("input_ranks", offsetof(Entry, input_dims_));
  print("input_dtypes", offsetof(Entry, input_dtypes_));
  print("output_ranks", offsetof(Entry, output_dims_));
  print("output_dtypes", offsetof(Entry, output_dtypes_));
  print("sizes", offsetof(Entry, sizes_));
  print("thread_name", offsetof(Entry, thread_name_));
  print("retired", offsetof(Entry, retired_));
  print("frames", offsetof(torch::CapturedTraceback, frames_));
  print("group_rank", offsetof(c10d::ProcessGroup, rank_));
  std::fflush(stdout);
  _exit(0);
}

int main() {}
