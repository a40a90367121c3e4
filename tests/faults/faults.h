// Shared by the tests of faults: a run that writes every kind of file, and the files of an
// undisturbed one to compare with.
#pragma once

#include <map>
#include <set>
#include <string>

#include "program.h"

namespace nbody::test {

// name=value of env that makes the disk fail: see disk_faults.cpp.
std::string disk_fault(const std::string& fault);

class FaultyRun {
 public:
  FaultyRun(const std::string& integrator, int steps);

  int steps() const { return steps_; }
  // Arguments of the whole run, in an empty folder or after a kill: it continues from its
  // checkpoint.
  std::string start() const;
  std::string resume() const;
  // What a user would type now: the same once more or, in turns, --resume if there is a checkpoint.
  std::string next(const Program& program, int turn) const;

  // Makes the input and the folder of snapshots.
  void prepare(const Program& program) const;

  // Every file with a final name holds what the undisturbed run wrote, the checkpoint the state of
  // some step; returns how many temporary files there are besides.
  int check_files(const Program& program) const;
  // All files are there, and nothing else.
  void check_finished(const Program& program) const;

 private:
  std::string integrator_;
  int steps_;
  std::map<std::string, std::string> files_;  // of the undisturbed run
  std::set<std::string> checkpoints_;         // after each number of steps
};

// Every file below the program's folder, by its path in it.
std::map<std::string, std::string> files_of(const Program& program);

}  // namespace nbody::test
