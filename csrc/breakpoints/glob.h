// Patterns of names: * is any characters, ? is any one.
#pragma once

#include <string_view>

namespace pyharness::breakpoints {

inline bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t star = std::string_view::npos; // the last one that was met
  std::size_t resume = 0; // where the text goes on that it does not take
  std::size_t p = 0;
  std::size_t t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (
        p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

} // namespace pyharness::breakpoints
