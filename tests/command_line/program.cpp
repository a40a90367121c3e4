#include "program.h"

#include <regex.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace nbody::test {
namespace fs = std::filesystem;
namespace {

std::string slurp(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Program::Program() {
  const char* program = std::getenv("NBODY_PROGRAM");
  if (program == nullptr) throw std::runtime_error("set NBODY_PROGRAM to the program to test");
  program_ = fs::absolute(program);
  std::string name = (fs::temp_directory_path() / "nbody_command_line_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  folder_ = fs::path(name) / "here";
  fs::create_directory(folder_);
}

Program::~Program() { fs::remove_all(folder_.parent_path()); }

Outcome Program::run(const std::string& arguments, const std::string& environment) const {
  const fs::path out = folder_.parent_path() / "out", error = folder_.parent_path() / "error";
  const std::string command = "cd '" + folder_.string() + "' && env " + environment + " '" +
                              program_.string() + "' " + arguments + " >'" + out.string() +
                              "' 2>'" + error.string() + "' </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out),
          slurp(error)};
}

void Program::write(const std::string& name, const std::string& content) const {
  std::ofstream(file(name), std::ios::binary) << content;
}

std::string Program::read(const std::string& name) const { return slurp(file(name)); }

std::string Program::listing() const {
  std::set<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
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

bool has_device(const Program& program) {
  return program.run("--scenario two-body --steps 1 --validate off").exit_code != 77;
}

}  // namespace nbody::test
