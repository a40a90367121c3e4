// Shared by the tests of faults: a run that writes every kind of file, and the files of an
// undisturbed run for comparison.
#pragma once

#include <map>
#include <set>
#include <string>

#include "program.h"

namespace nbody::test {

// Returns the environment variables that make the disk fail as `fault` says (see disk_faults.cpp).
std::string disk_fault(const std::string& fault);

class FaultyRun {
 public:
  FaultyRun(const std::string& integrator, int steps);

  int steps() const { return steps_; }
  // Returns the arguments of the whole run. In an empty directory they start the run; after a kill
  // they continue it from its checkpoint.
  std::string start() const;
  std::string resume() const;
  // Returns the arguments that a user tries after a kill: the same arguments again or, every second
  // time and if possible, those with --resume.
  std::string next(const Program& program, int turn) const;

  // Makes the input file and the folder for snapshots.
  void prepare(const Program& program) const;

  // Checks that every file with a final name equals the same file of the undisturbed run, and that
  // the checkpoint holds the state of some step. Returns the number of temporary files.
  int check_files(const Program& program) const;
  // Checks that the directory contains all files of the run and no others.
  void check_finished(const Program& program) const;

 private:
  std::string integrator_;
  int steps_;
  std::map<std::string, std::string> files_;  // files of the undisturbed run
  std::set<std::string> checkpoints_;         // the right checkpoint of every step
};

// Returns all files in the program's directory, by relative path.
std::map<std::string, std::string> files_of(const Program& program);

}  // namespace nbody::test
