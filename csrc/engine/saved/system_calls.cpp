// See system_calls.h.
#include <csrc/engine/saved/system_calls.h>

#include <csrc/engine/interpose.h>
#include <csrc/engine/saved/blocks.h>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <span>

namespace pyharness::engine {

namespace {

// Whether a block of these is watched: it is no more then, and who reads into
// it has been noted as who writes.
bool write_into_watched(std::span<const iovec> buffers) {
  bool any = false;
  for (const auto& buffer : buffers) {
    auto* const bytes = static_cast<volatile char*>(buffer.iov_base);
    for (std::size_t at = 0; at < buffer.iov_len; at += Write::kPage) {
      const auto* block = block_at(const_cast<const char*>(bytes + at));
      if (block != nullptr && block->watched.load()) {
        bytes[at] = bytes[at];
        any = true;
      }
    }
  }
  return any;
}

template <typename Call>
ssize_t with_writable(std::span<const iovec> buffers, Call call) {
  const ssize_t done = call();
  if (done >= 0 || errno != EFAULT) {
    return done;
  }
  if (!write_into_watched(buffers)) {
    errno = EFAULT;
    return done;
  }
  return call();
}

std::atomic<decltype(&read)> original_read = nullptr;
std::atomic<decltype(&pread)> original_pread = nullptr;
std::atomic<decltype(&readv)> original_readv = nullptr;
std::atomic<decltype(&recv)> original_recv = nullptr;
std::atomic<decltype(&recvfrom)> original_recvfrom = nullptr;
std::atomic<decltype(&recvmsg)> original_recvmsg = nullptr;

ssize_t read_again(int file, void* buffer, std::size_t size) {
  const iovec into{buffer, size};
  return with_writable(
      {&into, 1}, [&] { return original_read.load()(file, buffer, size); });
}

ssize_t pread_again(int file, void* buffer, std::size_t size, off_t offset) {
  const iovec into{buffer, size};
  return with_writable({&into, 1}, [&] {
    return original_pread.load()(file, buffer, size, offset);
  });
}

ssize_t readv_again(int file, const iovec* buffers, int count) {
  return with_writable({buffers, static_cast<std::size_t>(count)}, [&] {
    return original_readv.load()(file, buffers, count);
  });
}

ssize_t recv_again(int socket, void* buffer, std::size_t size, int flags) {
  const iovec into{buffer, size};
  return with_writable({&into, 1}, [&] {
    return original_recv.load()(socket, buffer, size, flags);
  });
}

ssize_t recvfrom_again(
    int socket,
    void* buffer,
    std::size_t size,
    int flags,
    sockaddr* from,
    socklen_t* length) {
  const iovec into{buffer, size};
  return with_writable({&into, 1}, [&] {
    return original_recvfrom.load()(socket, buffer, size, flags, from, length);
  });
}

ssize_t recvmsg_again(int socket, msghdr* message, int flags) {
  return with_writable({message->msg_iov, message->msg_iovlen}, [&] {
    return original_recvmsg.load()(socket, message, flags);
  });
}

template <typename Function>
void lead(
    Interposition& calls,
    std::atomic<Function>& original,
    Function again) {
  if (calls.possible()) {
    calls.lead(original, again);
  }
}

} // namespace

void lead_reading_calls() {
  static Interposition of_read("read");
  static Interposition of_pread("pread64");
  static Interposition of_readv("readv");
  static Interposition of_recv("recv");
  static Interposition of_recvfrom("recvfrom");
  static Interposition of_recvmsg("recvmsg");
  lead(of_read, original_read, &read_again);
  lead(of_pread, original_pread, &pread_again);
  lead(of_readv, original_readv, &readv_again);
  lead(of_recv, original_recv, &recv_again);
  lead(of_recvfrom, original_recvfrom, &recvfrom_again);
  lead(of_recvmsg, original_recvmsg, &recvmsg_again);
}

} // namespace pyharness::engine
