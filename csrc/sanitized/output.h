// What a runtime prints goes to a file of ours, for whoever reads the report.
#pragma once

#include <cstddef>

namespace pyharness::sanitized {

void open_output();
void take_descriptor();

// What was printed since the last time, into text; its size in bytes.
size_t read_output(char* text, size_t size);

} // namespace pyharness::sanitized
