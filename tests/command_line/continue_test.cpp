// A repeated command continues from its --checkpoint, so a batch system can restart a job without
// knowing that the job has run before.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "io/snapshot_file.h"
#include "program.h"

namespace nbody::test {
namespace {

namespace fs = std::filesystem;

class Continue : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device(program_)) GTEST_SKIP() << "no device";
    // The two checkpoint formats differ: .bin keeps no names. From this start time, every addition
    // of dt is rounded, so a run that adds time steps in another way ends at another time.
    program_.write("start.csv",
                   "# time=0.1\n# softening=0.01\n# dt=0.03\nname,x,y,vx,vy,m\n"
                   "Sun,0,0,0,0,1\nEarth,1,0,0,1,0.1\nMoon,0,2,-0.7,0,0.1\n");
  }
  std::string expect_success(const std::string& arguments) const {
    const Outcome outcome = program_.run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << '\n' << outcome.out << outcome.error;
    return outcome.out;
  }
  // Returns the files whose content depends only on the physics.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const char* name : {"end.csv", "map.csv", "map.pgm", "d.csv"})
      all[name] = program_.read(name);
    for (const auto& entry : fs::directory_iterator(program_.file("snapshots")))
      all[entry.path().filename()] = program_.read(fs::relative(entry, program_.file(".")));
    return all;
  }
  const Program program_;
};

constexpr const char* kRecords =
    "--input start.csv --integrator leapfrog --validate off --output end.csv --json r.json "
    "--snapshot-every 4 --snapshot-dir snapshots --diagnostics d.csv --activity-map 8 "
    "--activity-map-every 3 --activity-map-file map --checkpoint ";

TEST_F(Continue, TheSameCommandEndsWithTheFilesOfAnUndisturbedRun) {
  const auto run = [&](const std::string& checkpoint, int steps) {
    return expect_success(kRecords + checkpoint + " --steps " + std::to_string(steps));
  };
  fs::create_directory(program_.file("snapshots"));
  run("undisturbed.bin", 30);
  const auto whole = files();
  ASSERT_EQ(whole.size(), 4u + 9u);
  EXPECT_NE(whole.at("end.csv").find("Moon"), std::string::npos);
  for (const char* checkpoint : {"c.bin", "c.csv"}) {
    SCOPED_TRACE(checkpoint);
    fs::remove_all(program_.file("snapshots"));
    fs::create_directory(program_.file("snapshots"));
    run(checkpoint, 11);
    EXPECT_TRUE(says(run(checkpoint, 30), "resumed      at step 11"));
    EXPECT_EQ(nlohmann::json::parse(program_.read("r.json"))["steps"], 19);
    // The first run wrote a snapshot of its last step, 11, which an uninterrupted run does not
    // write.
    fs::remove(program_.file("snapshots/snapshot_00000011.bin"));
    EXPECT_TRUE(files() == whole);
    // A repeated command writes lost output again, but does not replace the record of the
    // measurement.
    fs::remove(program_.file("end.csv"));
    EXPECT_TRUE(says(run(checkpoint, 30), std::string("finished     ") + checkpoint));
    EXPECT_EQ(nlohmann::json::parse(program_.read("r.json"))["steps"], 19);
    EXPECT_TRUE(files() == whole);
  }
}

TEST_F(Continue, ACheckpointOfAnotherProblemIsRefusedAndStays) {
  const std::string run = "--validate off --checkpoint c.bin ", sizes = "--systems 2 --bodies 5 ";
  const std::string problem = run + "--scenario plummer ", sized = problem + sizes;
  expect_success(sized + "--steps 3");
  program_.write("other.bin", program_.read("c.bin"));
  program_.write("start.bin", "no checkpoint");
  expect_success("--scenario plummer --systems 1 --bodies 3 --steps 1 --output plain.bin");
  const std::vector<std::pair<std::string, const char*>> arguments{
      {sized + "--steps 2", "--steps: \"2\".*c.bin has already taken 3.*--restart"},
      {sized + "--dt 2", "--dt is 0[.0-9]* there and 2 here.*another file.*--restart"},
      {sized + "--softening 2", "--softening is 0[.0-9]* there and 2 here"},
      {sized + "--integrator euler", "--integrator is leapfrog there and euler here"},
      {sized + "--seed 2", "--seed is 1 there and 2 here"},
      {problem + "--systems 2 --bodies 6", "--bodies is 5 there and 6 here"},
      {problem + "--systems 1 --bodies 5", "--systems is 2 there and 1 here"},
      {run + sizes + "--scenario galaxies", "--scenario is plummer there and galaxies here"},
      {"--input start.csv --checkpoint c.bin", "--scenario is plummer there and none here"},
      {"--input start.csv --checkpoint start.bin", "--checkpoint: .*start.bin.*--restart"},
      {"--input start.csv --checkpoint plain.bin", "is a snapshot, not a checkpoint.*--restart"},
      {"--resume other.bin --steps 5 --checkpoint start.bin", "--checkpoint: .*start.bin"},
      {"--scenario plummer --restart", "--restart needs --checkpoint"},
      {"--resume other.bin --steps 5 --checkpoint c.bin --restart", "exclude each other"},
  };
  const std::string before = program_.read("c.bin");
  std::vector<BadInput> cases;
  for (const auto& [words, message] : arguments) cases.push_back({words.c_str(), message});
  expect_refused(program_, cases);
  EXPECT_TRUE(program_.read("c.bin") == before);
}

TEST_F(Continue, OtherBodiesAreNoticedByTheirChecksum) {
  const std::string run = "--input start.csv --validate off --checkpoint c.bin --steps ";
  expect_success(run + "3");
  std::string moved = program_.read("start.csv");
  moved.replace(moved.find("Moon,0,2"), 8, "Moon,0,3");
  program_.write("start.csv", moved);
  const BadInput cases[] = {
      {"--input start.csv --validate off --checkpoint c.bin --steps 5",
       "the checksum of the bodies at the start is [0-9a-f]{8} there and [0-9a-f]{8} here"}};
  expect_refused(program_, cases);
  EXPECT_TRUE(says(expect_success(run + "5 --restart"), "run          5 steps"));
  EXPECT_EQ(read_bodies(program_.file("c.bin")).systems.bodies.size(), 3u);
}

TEST_F(Continue, AnotherDeviceIsNamed) {
  const std::string run =
      "--scenario plummer --bodies 9 --validate off --checkpoint c.bin --steps ";
  expect_success(run + "3");
  Snapshot checkpoint = read_bodies(program_.file("c.bin"));
  checkpoint.checkpoint["device"] = "an abacus";
  write_bodies(program_.file("c.bin"), checkpoint);
  EXPECT_TRUE(
      says(expect_success(run + "5"),
           "although the file was written on an abacus, whose sums may differ in their last bits"));
}

// A job that resumed another job's checkpoint continues from its own checkpoint when it starts
// again.
TEST_F(Continue, AfterAnInterruptionResumeIsWhereTheRunBegan) {
  const std::string run = "--scenario plummer --bodies 9 --validate off ";
  expect_success(run + "--steps 9 --output whole.bin");
  expect_success(run + "--steps 3 --checkpoint a.bin");
  const std::string first = program_.read("a.bin");
  const std::string resume = "--resume a.bin --validate off --checkpoint b.bin --steps ";
  EXPECT_TRUE(says(expect_success(resume + "5"), "resumed      at step 3"));
  EXPECT_TRUE(says(expect_success(resume + "9 --output end.bin"), "resumed      at step 5"));
  EXPECT_TRUE(program_.read("end.bin") == program_.read("whole.bin"));
  EXPECT_TRUE(program_.read("a.bin") == first);
  // If another program's checkpoint replaces a.bin, which --resume-anyway accepts, b.bin belongs to
  // another problem.
  Snapshot foreign = read_bodies(program_.file("a.bin"));
  foreign.checkpoint["program"] = "another";
  write_bodies(program_.file("a.bin"), foreign);
  const BadInput cases[] = {
      {"--resume a.bin --resume-anyway --validate off --checkpoint b.bin --steps 9",
       "the checksum of the bodies at the start"}};
  expect_refused(program_, cases);
}

}  // namespace
}  // namespace nbody::test
