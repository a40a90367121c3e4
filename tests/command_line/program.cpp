#include "program.h"

#include <regex.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>

namespace nbody::test {
namespace fs = std::filesystem;

Program::Program() {
  const char* program = std::getenv("NBODY_PROGRAM");
  if (program == nullptr) throw std::runtime_error("set NBODY_PROGRAM to the program to test");
  program_ = fs::absolute(program);
  fs::create_directory(file(""));
}

Outcome Program::run(const std::string& arguments, const std::string& environment) const {
  // In a container without /sys, step 14's MPI would otherwise print an additional line.
  const std::string command =
      joined("cd '", file(""), "' && HWLOC_HIDE_ERRORS=2 env ", environment, " '", program_, "' ",
             arguments, " >'", folder_ / "out", "' 2>'", folder_ / "error", "' </dev/null");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), folder_.content("out"),
          folder_.content("error")};
}

std::string Program::listing() const {
  std::set<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(file(""))) {
    lines.insert(entry.path().string() + " " +
                 (entry.is_regular_file() ? std::to_string(entry.file_size()) : "-"));
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool matches(const std::string& text, const std::string& expression) {
  regex_t compiled;
  if (regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0)
    throw std::invalid_argument("not a regular expression: " + expression);
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

void expect_refused(const Program& program, std::span<const BadInput> cases) {
  const std::string before = program.listing();
  for (const BadInput& bad : cases) {
    SCOPED_TRACE(bad.arguments);
    const Outcome outcome = program.run(bad.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_TRUE(matches(outcome.error, bad.message))
        << outcome.error << "does not match " << bad.message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(program.listing(), before) << "a file was written or lost";
  }
}

bool has_device(const Program& program) {
  return program.run("--scenario two-body --steps 1 --validate off").exit_code != 77;
}

}  // namespace nbody::test
