// Runs the program under test as a user would: by its command line, in a folder of its own.
#pragma once

#include <filesystem>
#include <string>

namespace nbody::test {

struct Outcome {
  int exit_code = -1;
  std::string out, error;
};

class Program {
 public:
  Program();   // $NBODY_PROGRAM, in a new empty folder
  ~Program();  // removes the folder

  // Arguments as a shell would read them; `environment` are arguments of env: NAME=value, -u NAME.
  Outcome run(const std::string& arguments, const std::string& environment = "") const;

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  std::string listing() const;  // every file and its size, sorted

 private:
  std::filesystem::path program_, folder_;
};

// Whether some line of the text matches a POSIX extended regular expression. (Not std::regex, which
// takes a compiler seconds.)
bool matches(const std::string& text, const std::string& expression);

// False if the program has nothing to run on here: tests that need a run are then skipped.
bool has_device(const Program& program);

}  // namespace nbody::test
