#include "faults.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

namespace nbody::test {
namespace fs = std::filesystem;
namespace {

constexpr const char* kCheckpoint = "c.bin";
constexpr const char* kMap = " --activity-map 8 --activity-map-every 2 --activity-map-file map";
const std::string kRecords =
    std::string(
        " --checkpoint c.bin --snapshot-every 1 --snapshot-dir snapshots --diagnostics d.csv"
        " --output end.bin --validate off --quiet") +
    kMap;

bool is_temporary(const std::string& name) {
  const std::string file = fs::path(name).filename();
  return file.starts_with(".nbody-") && file.ends_with(".tmp");
}

void run_undisturbed(const Program& program, const std::string& arguments) {
  const Outcome outcome = program.run(arguments);
  if (outcome.exit_code != 0) throw std::runtime_error(arguments + ": " + outcome.error);
}

}  // namespace

std::string disk_fault(const std::string& fault) {
  // AddressSanitizer must usually be the first library; verify_asan_link_order=0 lets it be the
  // second. LD_PRELOAD accepts no path with a blank, but LD_LIBRARY_PATH does.
  const fs::path library = NBODY_DISK_FAULTS;
  return "LD_LIBRARY_PATH='" + library.parent_path().string() +
         "' LD_PRELOAD=" + library.filename().string() +
         " ASAN_OPTIONS=verify_asan_link_order=0 NBODY_FAULT=" + fault;
}

std::map<std::string, std::string> files_of(const Program& program) {
  std::map<std::string, std::string> files;
  const fs::path folder = program.file(".");
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) {
      const std::string name = fs::relative(entry.path(), folder);
      files[name] = program.read(name);
    }
  return files;
}

FaultyRun::FaultyRun(const std::string& integrator, int steps)
    : integrator_(integrator), steps_(steps) {
  const Program program;
  prepare(program);
  for (int step = 1; step <= steps_; ++step) {
    run_undisturbed(program, "--input start.csv --quiet --validate off --integrator " +
                                 integrator_ + " --restart --checkpoint c.bin --steps " +
                                 std::to_string(step) + kMap);
    checkpoints_.insert(program.read(kCheckpoint));
  }
  fs::remove(program.file(kCheckpoint));
  // A run leaves the checkpoint of step 0 only if it is killed.
  for (int operation = 1; !fs::exists(program.file(kCheckpoint)); ++operation)
    program.run("--input start.csv --quiet --validate off --checkpoint c.bin --integrator " +
                    integrator_ + " --steps 1" + kMap,
                disk_fault("kill:" + std::to_string(operation)));
  checkpoints_.insert(program.read(kCheckpoint));
  fs::remove(program.file(kCheckpoint));
  run_undisturbed(program, start());
  files_ = files_of(program);
  files_.erase(kCheckpoint);
  if (checkpoints_.size() != static_cast<std::size_t>(steps_) + 1)
    throw std::runtime_error("two steps have the same checkpoint");
}

void FaultyRun::prepare(const Program& program) const {
  // From this start time, every addition of dt is rounded, so a run that adds time steps in another
  // way ends at another time.
  program.write("start.csv",
                "# time=0.1\n# softening=0.01\n# dt=0.03\nx,y,vx,vy,m\n"
                "0,0,0,0,1\n1,0,0,1,0.1\n0,2,-0.7,0,0.1\n");
  fs::create_directory(program.file("snapshots"));
}

std::string FaultyRun::start() const {
  return "--input start.csv --integrator " + integrator_ + " --steps " + std::to_string(steps_) +
         kRecords;
}

std::string FaultyRun::resume() const {
  return "--resume c.bin --steps " + std::to_string(steps_) + kRecords;
}

std::string FaultyRun::next(const Program& program, int turn) const {
  return turn % 2 == 1 && fs::exists(program.file(kCheckpoint)) ? resume() : start();
}

int FaultyRun::check_files(const Program& program) const {
  int temporary = 0;
  for (const auto& [name, content] : files_of(program)) {
    if (is_temporary(name)) {
      ++temporary;
    } else if (name == kCheckpoint) {
      EXPECT_TRUE(checkpoints_.contains(content)) << "the checkpoint belongs to no step";
    } else if (!files_.contains(name)) {
      ADD_FAILURE() << name << " should not be there";
    } else if (name == "d.csv") {
      // Rows are appended, so the content must be a prefix of the whole file.
      EXPECT_TRUE(files_.at(name).starts_with(content)) << content;
    } else {
      EXPECT_TRUE(content == files_.at(name)) << name << " is not what it should be";
    }
  }
  return temporary;
}

void FaultyRun::check_finished(const Program& program) const {
  EXPECT_EQ(check_files(program), 0) << "temporary files are left";
  auto files = files_of(program);
  EXPECT_EQ(files.erase(kCheckpoint), 1u);
  for (const auto& [name, content] : files_)
    EXPECT_TRUE(files.contains(name) && files.at(name) == content) << name;
}

}  // namespace nbody::test
