// A library to be compiled with -O2: all code of a line is inlined there, and
// the line has no row in the line table.
#include <cstddef>
#include <utility>
#include <vector>

namespace {

struct Table {
  std::pair<long, bool> insert(long key, long value) {
    long& known = keys[key & 15];
    const bool is_new = known != key;
    known = key;
    values[key & 15] = value;
    size += is_new;
    return {value, is_new};
  }

  long keys[16] = {}, values[16] = {};
  std::size_t size = 0;
};

template <bool Twice>
[[gnu::noinline]] long sampled(const long* data, long count) {
  Table table;
  std::vector<long> kept;
  if (count > 0) {
    for (long index = 0; index < count; ++index) {
      const long& key = data[index]; // @reads
      const auto found = table.insert(key, index); // @inserts
      if (found.second)
        kept.push_back(key); // @keeps
      if (static_cast<long>(kept.size()) > count) // @sizes
        kept.resize(count);
    }
  } else if (Twice) {
    for (long index = count; index < 0; ++index) {
      kept.push_back(index); // @another
    }
  }
  return static_cast<long>(kept.size()) + table.values[0];
}

} // namespace

extern "C" long look() {
  const long data[] = {7, 8, 7, 9, 8};
  return sampled<true>(data, 5) + sampled<false>(data, 3);
}
