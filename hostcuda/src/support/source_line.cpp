#include "support/source_line.h"

#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include "support/module_code.h"
#include "support/observer.h"

namespace hostcuda {
namespace {

// Gets addr2line's output from another process, because in a sandbox this process may be unable to
// start processes. IN and OUT in HOSTCUDA_ADDR2LINE=IN,OUT are two file descriptors. This function
// writes the eight bytes of the address to OUT, and reads the answer, which ends with a zero byte,
// from IN.
std::size_t ask_other_process(int in, int out, std::uint64_t offset, char* answer,
                              std::size_t size) {
  static std::atomic_flag busy;
  while (busy.test_and_set()) sched_yield();
  std::size_t filled = 0;
  bool ended = write(out, &offset, sizeof offset) != sizeof offset;
  while (!ended && filled < size - 1 && read(in, answer + filled, 1) == 1) {
    ended = answer[filled] == '\0';
    filled += !ended;
  }
  answer[filled] = '\0';
  busy.clear();
  return filled;
}

// The file that contains a code address: the program, or a module (src/driver/module.h).
struct LoadedFile {
  std::uint64_t code, offset;
  bool is_program, is_found;
  char name[4096];
};

int find_file(dl_phdr_info* object, std::size_t, void* searched) {
  auto& wanted = *static_cast<LoadedFile*>(searched);
  const std::uint64_t offset = wanted.code - object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || offset - segment.p_vaddr >= segment.p_memsz) continue;
    wanted.is_found = true;
    wanted.offset = offset;
    if (!wanted.is_program) std::snprintf(wanted.name, sizeof wanted.name, "%s", object->dlpi_name);
    return 1;
  }
  wanted.is_program = false;  // the program is the first object
  return 0;
}

// Gets addr2line's output for the address: one line per inlined function, the innermost first.
std::size_t ask_addr2line(std::uint64_t code, char* answer, std::size_t size) {
  LoadedFile file{code, 0, true, false, ""};
  dl_iterate_phdr(find_file, &file);
  // Other libraries, such as the C library, have no lines of the user's code.
  if (!file.is_found || (!file.is_program && std::strncmp(file.name, "/proc/", 6) != 0)) return 0;
  const char* const other = std::getenv("HOSTCUDA_ADDR2LINE");
  int in = 0, out = 0;
  if (other && std::sscanf(other, "%d,%d", &in, &out) == 2)
    return file.is_program ? ask_other_process(in, out, file.offset, answer, size) : 0;
  if (file.is_program) {
    const ssize_t length = readlink("/proc/self/exe", file.name, sizeof file.name - 1);
    if (length < 0) return 0;
    file.name[length] = '\0';
  }
  char address[32];
  int ends[2];
  if (pipe(ends) != 0) return 0;
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(file.offset));
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    execlp("addr2line", "addr2line", "-i", "-e", file.name, address, nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::size_t filled = 0;
  for (ssize_t n; filled < size - 1 && (n = read(ends[0], answer + filled, size - 1 - filled)) > 0;)
    filled += static_cast<std::size_t>(n);
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  answer[filled] = '\0';
  return filled;
}

// True if the line contains a file name and a line number.
bool is_known(const char* line) {
  const char* colon = std::strrchr(line, ':');
  return std::strncmp(line, "??", 2) != 0 && colon && colon[1] >= '1' && colon[1] <= '9';
}

// Returns the part of the line behind hostcuda's folder, or "" if the line is in another folder.
// The name of this file may be relative to the folder of the build (CCACHE_BASEDIR).
std::string_view in_own_folder(std::string_view line) {
  std::string_view folder = __FILE__;
  folder.remove_suffix(std::string_view("src/support/source_line.cpp").size());
  const bool is_relative = folder.starts_with("../");
  while (folder.starts_with("../")) folder.remove_prefix(3);
  const auto place = line.find(folder);
  if (folder.empty() || place == line.npos) return "";
  const bool is_here = is_relative ? place > 0 && line[place - 1] == '/' : place == 0;
  return is_here ? line.substr(place + folder.size()) : "";
}

// True if the line is in hostcuda's own sources (src/). Such lines occur because some builds of the
// library have line information.
bool is_own(const char* line) { return in_own_folder(line).starts_with("src/"); }

// True if the line is in one of hostcuda's headers. The folder of an installation is named
// hostcuda; that of the sources may have any name.
bool is_of_header(const std::string& line) {
  return line.find("hostcuda/include/") != line.npos || in_own_folder(line).starts_with("include/");
}

}  // namespace

// Reads the first entry of the list of loaded objects, which is the executable.
std::uint64_t load_offset() {
  std::uint64_t offset = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* found) {
        *static_cast<std::uint64_t*>(found) = object->dlpi_addr;
        return 1;
      },
      &offset);
  return offset;
}

bool source_line(const void* code, char* text, std::size_t size) {
  char answer[4096];
  if (!ask_addr2line(reinterpret_cast<std::uint64_t>(code), answer, sizeof answer)) return false;
  // Prefers a line of the user's code, then a line of the standard library, then a line of
  // hostcuda's headers.
  const char* chosen = nullptr;
  int rank = 3;
  char* rest = nullptr;
  for (char* line = strtok_r(answer, "\n", &rest); line; line = strtok_r(nullptr, "\n", &rest)) {
    if (!is_known(line) || is_own(line)) continue;
    const int here = is_of_header(line) ? 2 : std::strstr(line, "/include/c++/") ? 1 : 0;
    if (here >= rank) continue;
    rank = here;
    chosen = line;
  }
  if (!chosen) return false;
  const char* const more = std::strstr(chosen, " (discriminator ");  // "file:12 (discriminator 3)"
  const std::size_t length = more ? static_cast<std::size_t>(more - chosen) : std::strlen(chosen);
  std::snprintf(text, size, "%.*s", static_cast<int>(length), chosen);
  return true;
}

std::string outermost_line(const void* return_address) {
  char answer[4096];
  const auto code = reinterpret_cast<std::uint64_t>(return_address) - 1;
  if (!ask_addr2line(code, answer, sizeof answer)) return "";
  std::string_view lines = answer;
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  const std::string last(lines.substr(lines.rfind('\n') + 1));
  return is_known(last.c_str()) ? last.substr(0, last.find(" (discriminator ")) : "";
}

bool calling_line(char* text, std::size_t size) {
  void* frames[64];
  const int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i)
    if (source_line(static_cast<const char*>(frames[i]) - 1, text, size)) return true;
  return false;
}

bool is_code_of_header(const void* return_address, const char* name) {
  char answer[4096];
  const auto code = reinterpret_cast<std::uint64_t>(return_address) - 1;
  if (!ask_addr2line(code, answer, sizeof answer)) return false;
  answer[std::strcspn(answer, "\n")] = '\0';
  return std::strstr(answer, name);
}

namespace {

std::string line_of_call(const void* return_address) {
  char found[4096];
  const void* call = static_cast<const char*>(return_address) - 1;
  return source_line(call, found, sizeof found) ? found : "";
}

}  // namespace

std::string CodePlace::text() const {
  if (file) return std::string(file) + ":" + std::to_string(line);
  if (!return_address) return "";
  // The next module may get the address. (If there is an observer, modules stay in memory.)
  if (!runtime_observer && owner_of_code(return_address)) return line_of_call(return_address);
  static thread_local auto* known = new std::map<const void*, std::string>;
  const auto [text, is_new] = known->try_emplace(return_address);
  if (is_new) text->second = line_of_call(return_address);
  return text->second;
}

bool is_of_library(const std::string& line) {
  return is_of_header(line) || line.find("/include/c++/") != line.npos;
}

CodePlace place_in_program(const CodePlace& place) {
  if (!is_of_library(place.text())) return place;
  void* frames[64];
  const int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    const CodePlace caller{frames[i]};
    if (const std::string line = caller.text();
        !line.empty() && !is_of_library(line) && !is_own(line.c_str()))
      return caller;
  }
  return place;
}

}  // namespace hostcuda
