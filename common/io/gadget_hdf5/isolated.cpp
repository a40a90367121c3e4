#include "io/gadget_hdf5/isolated.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "nbody/error.h"

namespace nbody {
namespace {

// First byte of the message that the child process sends.
constexpr char kResult = 'r', kUsage = 'u', kFailure = 'f';

std::string outcome_of(const std::function<std::string()>& work) {
  try {
    return kResult + work();
  } catch (const UsageError& error) {
    return kUsage + std::string(error.what());
  } catch (const std::exception& error) {
    return kFailure + std::string(error.what());
  }
}

[[noreturn]] void run_copy(int pipe, unsigned seconds, const std::function<std::string()>& work) {
  const rlimit no_core{0, 0}, time{seconds, seconds};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &time);
  // Hides what the C library prints when the child crashes ("stack smashing detected"), because
  // such a message does not help the user.
  if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  const std::string bytes = outcome_of(work);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::write(pipe, bytes.data() + sent, bytes.size() - sent);
    if (count < 0 && errno != EINTR) _exit(1);
    sent += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  _exit(0);  // flushing and destructors are left to the parent
}

std::string read_all(int pipe) {
  std::string bytes;
  std::array<char, 1 << 16> chunk;
  for (;;) {
    const ssize_t count = ::read(pipe, chunk.data(), chunk.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return bytes;
    if (count > 0) bytes.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string isolated(const std::string& file, unsigned seconds,
                     const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(file + ": " + std::strerror(errno));
  const pid_t copy = fork();
  if (copy < 0) {
    close(ends[0]);
    close(ends[1]);
    throw std::runtime_error(file + ": " + std::strerror(errno));
  }
  if (copy == 0) run_copy(ends[1], seconds, work);
  close(ends[1]);
  const std::string bytes = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(copy, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0 || bytes.empty())
    throw UsageError(
        file, ": corrupt file: the HDF5 library ",
        (WIFSIGNALED(status) ? std::string("crashed on it (") + strsignal(WTERMSIG(status)) + ")"
                             : std::string("failed on it")));
  if (bytes[0] == kUsage) throw UsageError(bytes.substr(1));
  if (bytes[0] == kFailure) throw std::runtime_error(bytes.substr(1));
  return bytes.substr(1);
}

}  // namespace nbody
