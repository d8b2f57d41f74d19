// What AddressSanitizer calls at each error.
#pragma once

namespace pyharness::sanitized {

void on_address_error(const char* said);

} // namespace pyharness::sanitized
