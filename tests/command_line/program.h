// Runs the program under test as a user would: from its command line, in a separate directory.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "support/tests/said.h"
#include "support/tests/temporary_folder.h"

namespace nbody::test {

struct Outcome {
  int exit_code = -1;
  std::string out, error;
};

class Program {
 public:
  Program();  // runs $NBODY_PROGRAM in a new empty directory

  // Splits `arguments` as a shell does. `environment` contains arguments of the command env:
  // NAME=value, -u NAME.
  Outcome run(const std::string& arguments, const std::string& environment = "") const;

  std::string name() const { return program_.filename(); }
  std::filesystem::path file(const std::string& name) const { return folder_ / ("here/" + name); }
  void write(const std::string& name, const std::string& content) const {
    folder_.with("here/" + name, content);
  }
  std::string read(const std::string& name) const { return folder_.content("here/" + name); }
  std::string listing() const;  // every file with its size, sorted

 private:
  std::filesystem::path program_;
  TemporaryFolder folder_;  // contains the program's directory, and its output next to it
};

// True if a line of the text matches a POSIX extended regular expression. (std::regex is not used,
// because it takes seconds to compile.)
bool matches(const std::string& text, const std::string& expression);

// For every case, expects exit code 2, a one-line message that matches the regular expression, and
// no new file.
struct BadInput {
  const char* arguments;
  const char* message;
};
void expect_refused(const Program& program, std::span<const BadInput> cases);

// False if no device is available. Tests that need a run are then skipped.
bool has_device(const Program& program);

}  // namespace nbody::test
