// A library for LD_PRELOAD. At a chosen moment it makes the disk fail, or kills the program.
//
//   NBODY_FAULT=bytes:K   the disk is full after K bytes: the write that exceeds them is cut short,
//                         and later writes fail with ENOSPC
//   NBODY_FAULT=fail:N    the N-th operation fails with ENOSPC
//   NBODY_FAULT=kill:N    the process is killed in the N-th operation; a write is then half done
//
// Only operations that change files count: opening for writing, write, fsync and rename, except on
// the standard streams.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

long long asked(const char* kind) {
  const char* fault = std::getenv("NBODY_FAULT");
  const std::size_t length = std::strlen(kind);
  if (fault == nullptr || std::strncmp(fault, kind, length) != 0) return -1;
  return std::atoll(fault + length);
}

std::atomic<long long> operations = 0;
std::atomic<long long> bytes_written = 0;

// Counts one disk operation. Returns true if it must fail; does not return if the process must be
// killed.
bool fails(ssize_t (*half)(int, const void*, std::size_t) = nullptr, int descriptor = -1,
           const void* data = nullptr, std::size_t size = 0) {
  const long long now = ++operations;
  if (now == asked("kill:")) {
    if (half != nullptr) half(descriptor, data, size / 2);
    kill(getpid(), SIGKILL);
  }
  if (now == asked("fail:")) {
    errno = ENOSPC;
    return true;
  }
  return false;
}

ssize_t write_some(int descriptor, const void* data, std::size_t size) {
  static auto* const really = real<ssize_t(int, const void*, std::size_t)>("write");
  if (descriptor <= STDERR_FILENO) return really(descriptor, data, size);
  if (fails(really, descriptor, data, size)) return -1;
  if (const long long room = asked("bytes:"); room >= 0) {
    const long long left = room - bytes_written;
    if (left <= 0) {
      errno = ENOSPC;
      return -1;
    }
    if (static_cast<long long>(size) > left) size = static_cast<std::size_t>(left);
    bytes_written += static_cast<long long>(size);
  }
  return really(descriptor, data, size);
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, std::size_t size) {
  return write_some(descriptor, data, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  static auto* const really = real<ssize_t(int, const iovec*, int)>("writev");
  if (descriptor <= STDERR_FILENO) return really(descriptor, parts, count);
  ssize_t sum = 0;
  for (int k = 0; k < count; ++k) {
    if (parts[k].iov_len == 0) continue;
    const ssize_t written = write_some(descriptor, parts[k].iov_base, parts[k].iov_len);
    if (written < 0) return sum > 0 ? sum : -1;
    sum += written;
    if (static_cast<std::size_t>(written) < parts[k].iov_len) break;
  }
  return sum;
}

int fsync(int descriptor) {
  static auto* const really = real<int(int)>("fsync");
  return fails() ? -1 : really(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const really = real<int(const char*, const char*)>("rename");
  return fails() ? -1 : really(from, to);
}

int open(const char* path, int flags, ...) {
  static auto* const really = real<int(const char*, int, ...)>("open");
  std::va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if ((flags & O_CREAT) != 0 && fails()) return -1;
  return really(path, flags, mode);
}

}  // extern "C"
