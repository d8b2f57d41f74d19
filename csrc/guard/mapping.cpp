// Which file backs an address of this process, from /proc/self/maps.
#include <csrc/guard/mapping.h>

#include <csrc/guard/system_call.h>

namespace pyharness::inspect {
namespace {

constexpr long kInterrupted = -4; // -EINTR

// Hands out /proc/self/maps byte by byte; '\0' is its end.
class MapsReader {
 public:
  char next() {
    if (position_ == filled_ && !fill()) {
      return '\0';
    }
    return buffer_[position_++];
  }

 private:
  bool fill() {
    do {
      filled_ = file_.read(buffer_, sizeof(buffer_));
    } while (filled_ == kInterrupted);
    position_ = 0;
    if (filled_ <= 0) {
      filled_ = 0;
    }
    return filled_ > 0;
  }

  File file_{"/proc/self/maps", O_RDONLY};
  long position_ = 0;
  long filled_ = 0;
  char buffer_[1024];
};

// Reads digits into `value`; the character behind them.
char read_hex(MapsReader* maps, uint64_t* value) {
  *value = 0;
  for (;;) {
    const char c = maps->next();
    if (c >= '0' && c <= '9') {
      *value = *value * 16 + static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      *value = *value * 16 + static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return c;
    }
  }
}

// Reads on to the first `stop`, or the end of the line; the character found.
char read_to(MapsReader* maps, char stop) {
  for (;;) {
    const char c = maps->next();
    if (c == stop || c == '\n' || c == '\0') {
      return c;
    }
  }
}

// Reads a path from behind its first '/' to the end of the line.
bool read_path(MapsReader* maps, Mapping* mapping) {
  size_t length = 0;
  mapping->path[length++] = '/';
  for (;;) {
    const char c = maps->next();
    if (c == '\n' || c == '\0') {
      mapping->path[length] = '\0';
      return true;
    }
    if (length + 1 >= sizeof(mapping->path)) {
      read_to(maps, '\n');
      return false;
    }
    mapping->path[length++] = c;
  }
}

// Reads a line, START-END PERM OFFSET DEVICE INODE PATH (proc_pid_maps(5));
// false where it is no executable mapping of a file. `more` tells of the end.
bool read_mapping(MapsReader* maps, Mapping* mapping, bool* more) {
  uint64_t start = 0;
  uint64_t end = 0;
  *more = read_hex(maps, &start) == '-';
  if (!*more) {
    return false;
  }
  read_hex(maps, &end);
  mapping->start = start;
  mapping->end = end;
  maps->next();
  maps->next();
  const bool executable = maps->next() == 'x';
  read_to(maps, ' ');
  read_hex(maps, &mapping->file_offset);
  return read_to(maps, '/') == '/' && read_path(maps, mapping) && executable;
}

} // namespace

bool find_mapping(uintptr_t address, Mapping* mapping) {
  MapsReader maps;
  for (bool more = true; more;) {
    if (read_mapping(&maps, mapping, &more) && mapping->start <= address &&
        address < mapping->end) {
      return true;
    }
  }
  return false;
}

bool byte_in_file(const Mapping& mapping, uintptr_t address, uint8_t* byte) {
  const File file(mapping.path, O_RDONLY);
  return file.is_open() &&
      file.read_byte(byte, mapping.file_offset + (address - mapping.start));
}

} // namespace pyharness::inspect
