// Runs the program under test as a user would: in a folder of its own, by its command line.
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

// The program has nothing to run on here: the tests that need a run are skipped, visibly.
bool has_device(const Program& program);

}  // namespace nbody::test
