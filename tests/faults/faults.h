// Shared by the fault tests: a run that writes every kind of file, and the files of an undisturbed
// run for comparison.
#pragma once

#include <map>
#include <set>
#include <string>

#include "program.h"

namespace nbody::test {

// Returns the environment variables that make the disk fail in this way (see disk_faults.cpp).
std::string disk_fault(const std::string& fault);

class FaultyRun {
 public:
  FaultyRun(const std::string& integrator, int steps);

  int steps() const { return steps_; }
  // Arguments of the whole run. In an empty directory they start it; after a kill they continue it
  // from its checkpoint.
  std::string start() const;
  std::string resume() const;
  // A user's next command after a kill: the same again or, every second time, --resume if possible.
  std::string next(const Program& program, int turn) const;

  // Makes the input and the folder of snapshots.
  void prepare(const Program& program) const;

  // Checks that every file with a final name equals the undisturbed run's and that the checkpoint
  // holds the state of some step; returns the number of temporary files.
  int check_files(const Program& program) const;
  // Checks that all files exist and nothing else.
  void check_finished(const Program& program) const;

 private:
  std::string integrator_;
  int steps_;
  std::map<std::string, std::string> files_;  // of the undisturbed run
  std::set<std::string> checkpoints_;         // after each number of steps
};

// All files below the program's directory, by relative path.
std::map<std::string, std::string> files_of(const Program& program);

}  // namespace nbody::test
