#include "nvrtc/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/observer.h"
#include "support/sanitizer.h"

extern char** environ;

namespace hostcuda {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "hostcuda-nvrtc-XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
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
    const std::size_t begin = expression.find_first_not_of("& \t");
    const std::string name = begin == expression.npos ? "" : expression.substr(begin);
    text += "static const ::hostcuda::NameExpression hostcuda_name_" + std::to_string(number++) +
            "((" + expression + "), " + quoted(expression) + ", " + quoted(name) + ");\n";
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

// Returns the exit status of the command, or -1. Both of its outputs go to the file.
int run(const std::vector<std::string>& words, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) {
    std::ofstream(output) << words[0] << ": " << std::strerror(error) << '\n';
    return -1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void replace_all(std::string& text, const std::string& old, const std::string& with) {
  for (std::size_t at = text.find(old); at != text.npos; at = text.find(old, at + with.size()))
    text.replace(at, old.size(), with);
}

}  // namespace

NvrtcOutput compile_nvrtc(const NvrtcSource& source, const std::vector<std::string>& options,
                          bool searches_folder_of_name, const std::string& nvcc) {
  NvrtcOutput result;
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    result.log = "cannot make a folder in " + fs::temp_directory_path().string() + "\n";
    return result;
  }
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
  const char* const variant = runtime_observer ? "traced" : kAddressSanitizer ? "asan" : "plain";
  std::vector<std::string> words{nvcc, std::string("--hostcuda-variant=") + variant, "-ptx",
                                 "-D__CUDACC_RTC__=1"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("-I" + headers.string());
  if (searches_folder_of_name) {
    const fs::path of_name = fs::path(source.name).parent_path();
    words.push_back("-iquote" + (of_name.empty() ? "." : of_name.string()));
  }
  words.insert(words.end(), {file.string(), "-o", module.string()});
  result.is_compiled = run(words, messages) == 0;
  result.log = read_file(messages);
  replace_all(result.log, headers.string() + "/", "");
  if (result.is_compiled) result.ptx = read_file(module);
  return result;
}

}  // namespace hostcuda
