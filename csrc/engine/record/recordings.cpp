// See recordings.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/record/recordings.h>

#include <csrc/engine/provenance/provenance.h>
#include <csrc/engine/record/recorded.h>
#include <csrc/engine/record/recorder.h>

#include <c10/util/ApproximateClock.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace pyharness::engine {

namespace {

struct Recording {
  Wanted wanted;
  std::uint64_t start = 0;
  std::map<const Recorded*, std::uint64_t> written; // before it began
};

std::mutex recordings_mutex; // of what follows
std::map<std::uint64_t, Recording> recordings;
std::uint64_t last_recording = 0;
std::unique_ptr<c10::ApproximateClockToUnixTimeConverter> clock;

Wanted wanted_by_all() {
  Wanted all{false, false, false, false, true};
  for (const auto& [number, recording] : recordings) {
    all.forward = all.forward || recording.wanted.forward;
    all.backward = all.backward || recording.wanted.backward;
    all.tensors = all.tensors || recording.wanted.tensors;
    all.inner_ops = all.inner_ops || recording.wanted.inner_ops;
    all.interpose = all.interpose && recording.wanted.interpose;
  }
  return all;
}

std::string name_of_thread(std::uint64_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

using Convert = std::function<c10::time_t(c10::approx_time_t)>;

std::uint64_t
since(const Convert& convert, std::uint64_t time, std::uint64_t start) {
  const auto nanoseconds = convert(static_cast<c10::approx_time_t>(time)) -
      convert(static_cast<c10::approx_time_t>(start));
  return nanoseconds > 0 ? static_cast<std::uint64_t>(nanoseconds) : 0;
}

bool is_wanted(const Event& event, const Wanted& wanted, std::uint64_t start) {
  return event.start >= start &&
      (event.kind == Kind::kOp ? wanted.forward : wanted.backward);
}

Drained drained(
    const Recorded& from,
    const Recording& recording,
    const Convert& convert) {
  Drained found;
  found.thread = from.thread;
  found.number = from.number;
  found.name = name_of_thread(from.thread);
  const auto before = recording.written.find(&from);
  const auto first = before != recording.written.end() ? before->second
                                                       : std::uint64_t{0};
  const auto end = from.ring.written();
  const auto words = from.ring.read(first, end);
  found.lost = end - first - words.size() + from.too_deep.load();
  found.events.reserve(words.size());
  for (const auto& each : words) {
    auto event = event_of(each);
    if (is_wanted(event, recording.wanted, recording.start)) {
      event.start = since(convert, event.start, recording.start);
      event.end = since(convert, event.end, recording.start);
      found.events.push_back(event);
    }
  }
  found.notes = from.notes.all(found.first_note);
  return found;
}

std::uint64_t start(const Wanted& wanted, std::size_t capacity) {
  const std::lock_guard<std::mutex> lock(recordings_mutex);
  if (recordings.empty()) {
    clock = std::make_unique<c10::ApproximateClockToUnixTimeConverter>();
    begin_generation(capacity);
  }
  auto& recording = recordings[++last_recording];
  recording.wanted = wanted;
  for (const auto& each : all_recorded()) {
    recording.written[each.get()] = each->ring.written();
  }
  recording.start = static_cast<std::uint64_t>(c10::getApproximateTime());
  observe(wanted_by_all());
  return last_recording;
}

} // namespace

std::uint64_t start_recording(const Wanted& wanted, std::size_t capacity) {
  acquire_chains();
  const auto number = start(wanted, capacity);
  if (wanted.forward) {
    begin_to_note_here();
  }
  return number;
}

std::vector<Drained> stop_recording(std::uint64_t number) {
  const std::lock_guard<std::mutex> lock(recordings_mutex);
  const auto recording = recordings.at(number);
  recordings.erase(number);
  observe(wanted_by_all());
  const auto convert = clock->makeConverter();
  std::vector<Drained> found;
  for (const auto& each : all_recorded()) {
    found.push_back(drained(*each, recording, convert));
  }
  if (recordings.empty()) {
    end_generation();
  }
  return found;
}

std::uint64_t count_events(std::uint64_t number) {
  const std::lock_guard<std::mutex> lock(recordings_mutex);
  const auto& recording = recordings.at(number);
  std::uint64_t count = 0;
  for (const auto& each : all_recorded()) {
    const auto before = recording.written.find(each.get());
    count += each->ring.written() -
        (before != recording.written.end() ? before->second : 0);
  }
  return count;
}

} // namespace pyharness::engine
