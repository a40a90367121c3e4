// hostile OUTSIDE PARENT tries everything that a submission could do if the grader's rules allowed
// it. It prints a line for each attempt that the sandbox did not block.
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

#include "../../tools/sandbox/refuse_exec.h"

// Gives up the right to start programs, as the grader's worker does.
[[gnu::constructor(101)]] static void start() { nbody::grading::refuse_exec(); }

int main(int argc, char** argv) {
  const std::string outside = argv[1];
  const pid_t parent = std::atoi(argv[2]);
  const auto try_to = [](const char* what, bool refused) {
    if (!refused) std::printf("%s\n", what);
    std::fflush(stdout);
  };
  const auto opens = [](const std::string& path, int how) {
    const int file = open(path.c_str(), how, 0600);
    if (file >= 0) close(file);
    return file >= 0;
  };
  const pid_t child = fork();
  if (child == 0) _exit(0);
  try_to("calls: start a process", child < 0);
  char own[] = "--again", *const again[] = {argv[0], own, nullptr};
  try_to("calls: become another program",
         execv(argv[0], again) != 0 && execv("/usr/bin/python3", again) != 0);
  try_to("calls: become another program by a file",
         syscall(SYS_execveat, open(argv[0], O_PATH), "", again, environ, AT_EMPTY_PATH) != 0);
  try_to("calls: signal the grader", kill(parent, 0) != 0);
  try_to("calls: open a socket", socket(AF_INET, SOCK_STREAM, 0) < 0);
  try_to("calls: open a socket of IPv6", socket(AF_INET6, SOCK_DGRAM, 0) < 0);
  try_to("calls: look into the grader", ptrace(PTRACE_ATTACH, parent, nullptr, nullptr) != 0);
  try_to("files: read a file of the user", !opens(outside + "/secret", O_RDONLY));
  try_to("files: list a folder", !opens(outside, O_RDONLY | O_DIRECTORY));
  try_to("files: look into the grader's memory",
         !opens("/proc/" + std::string(argv[2]) + "/mem", O_RDWR));
  try_to("system: read the passwords", !opens("/etc/passwd", O_RDONLY));
  try_to("system: read its programs", !opens("/usr/bin/env", O_RDONLY));
  try_to("files: write a file", !opens(outside + "/new", O_WRONLY | O_CREAT));
  try_to("files: change its own program", !opens(argv[0], O_WRONLY));
  try_to("files: make a file in its folder", !opens("out/new", O_WRONLY | O_CREAT));
  try_to("memory: take two gigabytes",
         ::operator new (std::size_t{2} << 30, std::nothrow) == nullptr);
  // CUDA's driver needs the following calls, so they are allowed with --gpu.
  int pair[2];
  try_to("gpu: talk within the machine",
         socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || socket(AF_UNIX, SOCK_SEQPACKET, 0) < 0);
  try_to("gpu: name a thread", !opens("/proc/self/task/" + std::to_string(getpid()) + "/comm",
                                      O_WRONLY | O_CREAT | O_TRUNC));
  // A submission must be able to do the following.
  try_to("allowed: write its record", !opens("out/trace.json", O_WRONLY | O_TRUNC));
  std::thread([&] { try_to("allowed: start a thread", false); }).join();
  for (volatile int k = 0;; k = k + 1) {
  }
}
