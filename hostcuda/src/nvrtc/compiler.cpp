#include "nvrtc/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "support/observer.h"

extern char** environ;
// Is there only in programs that are built with AddressSanitizer.
extern "C" __attribute__((weak)) void __asan_init();

namespace hostcuda {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + std::strerror(error));
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* around = std::getenv("TMPDIR");
    std::string name = std::string(around ? around : "/tmp") + "/hostcuda-nvrtc-XXXXXX";
    if (!mkdtemp(name.data())) refuse("cannot make the folder " + name, errno);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  if (!stream.flush()) refuse("cannot write " + file.string(), errno);
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? "\\n" : std::string(1, c);
  }
  return result + '"';
}

// The program, followed by an object for each name expression (hostcuda/driver/kernel.h). The line
// directives give messages the names that the user knows. clang, which only checks the program,
// does not know the class of these objects.
std::string text_of(const NvrtcSource& source) {
  std::string text = "#line 1 " + quoted(source.name) + "\n" + source.text +
                     "\n#line 1 \"nvrtcAddNameExpression\"\n#ifndef HOSTCUDA_SEMANTICS\n";
  int number = 0;
  for (const std::string& expression : source.expressions) {
    text += "static const ::hostcuda::NameExpression hostcuda_name_" + std::to_string(number++) +
            "((" + expression + "), " + quoted(expression) + ", " + quoted(name_in(expression)) +
            ");\n";
  }
  return text + "#endif\n";
}

// Names of headers may contain folders, but must not lead out of the temporary folder.
bool is_safe(const fs::path& name) {
  if (name.is_absolute()) return false;
  for (const fs::path& part : name)
    if (part == "..") return false;
  return true;
}

// Starts the command, whose two outputs go to the file. The program may ignore SIGCHLD, but the
// compiler waits for processes.
pid_t start(const std::vector<std::string>& words, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGCHLD);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error) refuse("cannot start " + words[0], error);
  return child;
}

// Runs the compiler; returns false if it did not make its output. If the program ignores SIGCHLD,
// the exit status is unknown.
bool makes(const fs::path& output, const std::vector<std::string>& words,
           const fs::path& messages) {
  constexpr int kNotFound = 126;  // and greater: statuses of env and of shells
  const pid_t compiler = start(words, messages);
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(compiler, &status, 0)) < 0 && errno == EINTR) continue;
  if (ended == compiler && (!WIFEXITED(status) || WEXITSTATUS(status) >= kNotFound))
    throw std::runtime_error("cannot run " + words[0] + ": " + read_file(messages));
  return status == 0 && fs::exists(output);
}

// NVIDIA's nvcc may be on the PATH too.
bool is_own_nvcc(const fs::path& file) {
  char begin[256] = "";
  std::ifstream(file, std::ios::binary).read(begin, sizeof begin);
  return std::string_view(begin, sizeof begin).find("hostcuda") != std::string_view::npos;
}

// Returns the folders where nvcc may be, the folder bin next to the header's folder first. A
// compiler may have seen a relative path, from the folder in which it ran. The program is normally
// below that folder.
std::vector<fs::path> folders_of_nvcc(const fs::path& header) {
  const fs::path bin = header.parent_path().parent_path() / "bin";
  std::vector<fs::path> folders{bin};
  if (bin.is_relative())
    for (fs::path around = fs::read_symlink("/proc/self/exe"); around.has_relative_path();) {
      around = around.parent_path();
      folders.push_back(around / bin);
    }
  if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(fs::path(home) / "bin");
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.emplace_back(folder);
  return folders;
}

void replace_all(std::string& text, const std::string& old, const std::string& with) {
  for (std::size_t at = text.find(old); at != text.npos; at = text.find(old, at + with.size()))
    text.replace(at, old.size(), with);
}

}  // namespace

std::string name_in(const std::string& expression) {
  const std::size_t begin = expression.find_first_not_of("& \t\n");
  return begin == expression.npos ? "" : expression.substr(begin);
}

std::string find_nvcc(const std::string& header) {
  const std::vector<fs::path> folders = folders_of_nvcc(header);
  for (const fs::path& folder : folders)
    if (is_own_nvcc(folder / "nvcc")) return (folder / "nvcc").string();
  throw std::runtime_error("hostcuda's nvcc is not in " + folders[0].string() +
                           ", in CUDA_HOME or on the PATH");
}

NvrtcOutput compile_nvrtc(const NvrtcSource& source, const std::vector<std::string>& options,
                          bool searches_folder_of_name, const std::string& nvcc) {
  NvrtcOutput result;
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "program.cu", headers = folder.path() / "headers",
                 module = folder.path() / "module.ptx", messages = folder.path() / "messages";
  write_file(file, text_of(source));
  fs::create_directories(headers);
  for (const auto& [name, text] : source.headers) {
    if (!is_safe(name)) {
      result.log = quoted(name) + ": the name of a header must be a relative path without ..\n";
      return result;
    }
    write_file(headers / name, text);
  }
  // A module must be built like the program that loads it.
  const char* const variant = runtime_observer ? "traced" : __asan_init ? "asan" : "plain";
  std::vector<std::string> words{nvcc, std::string("--hostcuda-variant=") + variant, "-ptx",
                                 "-D__CUDACC_RTC__=1"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("-I" + headers.string());
  if (searches_folder_of_name) {
    const fs::path of_name = fs::path(source.name).parent_path();
    words.push_back("-iquote" + (of_name.empty() ? "." : of_name.string()));
  }
  words.insert(words.end(), {file.string(), "-o", module.string()});
  result.is_compiled = makes(module, words, messages);
  result.log = read_file(messages);
  replace_all(result.log, headers.string() + "/", "");
  if (result.is_compiled) result.ptx = read_file(module);
  return result;
}

}  // namespace hostcuda
