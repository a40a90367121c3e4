// Runs a program with as few rights as the system allows.
//
//   grade_sandbox --protections               prints the protections that work here, one per line
//   grade_sandbox [--build | --gpu] [--read PATH]... [--execute PATH]... [--write PATH]...
//                 MEGABYTES SECONDS PROGRAM [ARGUMENT...]
//
// MEGABYTES limits memory and SECONDS the processor time of each process. The program may read what
// lies below a --read PATH, execute what lies below an --execute PATH, and write to files below a
// --write PATH; it sees no other file.
//   --build  for a compiler: it may start processes, and create files where it may write
//   --gpu    for CUDA's driver: it may use devices, sockets within the machine, and /proc, where it
//            names its threads. The driver also needs MEGABYTES to be 0, which means no limit
// Without root, Landlock or seccomp, the program runs without the protection that needs it, and the
// grader says so. The grader puts bubblewrap around all this if it is installed and works.
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr uid_t kNobody = 65534;
constexpr rlim_t kMegabyte = 1 << 20;
constexpr rlim_t kFileMegabytes = 64;
constexpr rlim_t kGpuFileMegabytes = 512;    // an assignment's timed result has 268 MB
constexpr std::uint32_t kNoSocket = AF_MAX;  // a family that no socket has

void limit(int resource, rlim_t value) {
  // At the first limit of processor time, the process gets SIGXCPU; at the second, SIGKILL.
  const rlimit both{value, resource == RLIMIT_CPU ? value + 1 : value};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

// The permissions that the command line grants.
struct Permissions {
  bool build = false, gpu = false;
  std::vector<const char*> read, execute, write;
};

void limit_resources(rlim_t megabytes, rlim_t seconds, bool gpu) {
  if (megabytes > 0) limit(RLIMIT_DATA, megabytes * kMegabyte);
  limit(RLIMIT_CPU, seconds);
  limit(RLIMIT_FSIZE, (gpu ? kGpuFileMegabytes : kFileMegabytes) * kMegabyte);
  limit(RLIMIT_CORE, 0);
}

bool become_nobody() {
  return geteuid() == 0 && setgroups(0, nullptr) == 0 && setgid(kNobody) == 0 &&
         setuid(kNobody) == 0;
}

// Allows access only to the files on the command line.
bool restrict_files(const Permissions& permissions) {
  constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  constexpr std::uint64_t kExecute = kRead | LANDLOCK_ACCESS_FS_EXECUTE;
  constexpr std::uint64_t kCreate = LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG;
  constexpr std::uint64_t kWrite =
      LANDLOCK_ACCESS_FS_WRITE_FILE | kCreate | LANDLOCK_ACCESS_FS_REMOVE_DIR |
      LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SOCK |
      LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = kExecute | kWrite;
  const int set = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &rules, sizeof rules.handled_access_fs, 0));
  if (set < 0) return false;
  const auto allow = [set](const char* path, std::uint64_t access) {
    landlock_path_beneath_attr rule{};
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) return;  // not every system has all these directories
    struct stat what {};
    const bool is_folder = fstat(rule.parent_fd, &what) == 0 && S_ISDIR(what.st_mode);
    rule.allowed_access = is_folder ? access : access & ~(LANDLOCK_ACCESS_FS_READ_DIR | kCreate);
    syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
  };
  constexpr std::uint64_t kChange = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE;
  for (const char* path : permissions.read) allow(path, kRead);
  for (const char* path : permissions.execute) allow(path, kExecute);
  for (const char* path : permissions.write)
    allow(path, permissions.build ? kChange | kCreate : kChange);
  allow("/dev/null", kChange);
  if (permissions.gpu) {
    // /proc gives access to files of this user's processes, but not to their memory.
    for (const char* path : {"/dev", "/proc"}) allow(path, kChange);
    allow("/etc", kRead);
  }
  return syscall(SYS_landlock_restrict_self, set, 0) == 0;
}

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

// Blocks sending signals to other processes, inspecting them, starting processes (except for
// compilers), and the network. (The worker itself blocks execve() once it runs: refuse_exec.h.)
bool restrict_calls(const Permissions& permissions) {
  if (kArchitecture == 0) return false;
  constexpr auto load = [](std::size_t offset) -> sock_filter {
    return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  };
  constexpr auto answer = [](std::uint32_t what) -> sock_filter {
    return BPF_STMT(BPF_RET | BPF_K, what);
  };
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  constexpr std::size_t kCall = offsetof(seccomp_data, nr),
                        kFirstArgument = offsetof(seccomp_data, args[0]);
  std::vector<sock_filter> program {
    load(offsetof(seccomp_data, arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
        answer(SECCOMP_RET_KILL_PROCESS), load(kCall),
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),  // system calls of x32
        answer(SECCOMP_RET_KILL_PROCESS),
#endif
  };
  const auto refuse = [&](long call, std::uint32_t how) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(answer(how));
  };
  // clone3() starts processes as well as threads, and hides its flags from the filter. If clone3()
  // is missing, glibc calls clone(), whose flags the filter can see.
  refuse(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  for (const long call : {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_open,
                          SYS_pidfd_send_signal, SYS_io_uring_setup, SYS_unshare, SYS_setns,
                          SYS_mount, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl,
                          SYS_setsid, SYS_setpgid, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
    refuse(call, kRefuse);
#if defined(__x86_64__)
  if (!permissions.build)
    for (const long call : {SYS_fork, SYS_vfork}) refuse(call, kRefuse);
#endif
  const auto allow_only = [&](long call, std::uint32_t first_argument) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
    program.push_back(load(kFirstArgument));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first_argument, 1, 0));
    program.push_back(answer(kRefuse));
    program.push_back(answer(SECCOMP_RET_ALLOW));
  };
  const auto own = static_cast<std::uint32_t>(getpid());
  for (const long call : {SYS_kill, SYS_tgkill, SYS_tkill}) allow_only(call, own);
  for (const long call : {SYS_socket, SYS_socketpair})
    allow_only(call, permissions.gpu ? AF_UNIX : kNoSocket);
  if (!permissions.build) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3));
    program.push_back(load(kFirstArgument));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
    program.push_back(answer(kRefuse));
  }
  program.push_back(answer(SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

struct Protections {
  bool nobody, files, calls;
};

Protections take_rights(const Permissions& permissions) {
  const bool nobody = become_nobody() || geteuid() == kNobody;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the program ends with the grader
  const bool files = restrict_files(permissions);
  return {nobody, files, restrict_calls(permissions)};
}

int print_protections() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const Protections taken = take_rights({});
    std::printf("user %s\nfiles %s\ncalls %s\n", taken.nobody ? "nobody" : "-",
                taken.files ? "landlock" : "-", taken.calls ? "seccomp" : "-");
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

// Returns the permissions, and moves `word` to the first argument after them.
Permissions permissions_of(char**& word) {
  Permissions permissions;
  for (; *word != nullptr && std::strncmp(*word, "--", 2) == 0; ++word) {
    const std::string option = *word;
    if (option == "--build") {
      permissions.build = true;
    } else if (option == "--gpu") {
      permissions.gpu = true;
    } else {
      auto& paths = option == "--read"      ? permissions.read
                    : option == "--execute" ? permissions.execute
                                            : permissions.write;
      if (*++word == nullptr) break;
      paths.push_back(*word);
    }
  }
  return permissions;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--protections") == 0) return print_protections();
  char** word = argv + 1;
  const Permissions permissions = permissions_of(word);
  if (argv + argc - word < 3) {
    std::fputs("usage: grade_sandbox [OPTIONS] MEGABYTES SECONDS PROGRAM [ARGUMENT...]\n", stderr);
    return 2;
  }
  limit_resources(std::strtoul(word[0], nullptr, 10), std::strtoul(word[1], nullptr, 10),
                  permissions.gpu);
  take_rights(permissions);
  execv(word[2], word + 2);
  std::fprintf(stderr, "grade_sandbox: %s: %s\n", word[2], std::strerror(errno));
  return 126;
}
