// Tests the command line with valid input.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/snapshot_file.h"
#include "io/write_whole_file.h"
#include "program.h"

namespace nbody::test {
namespace {

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device(program_)) GTEST_SKIP() << "no device";
  }
  Outcome expect_success(const std::string& arguments) {
    const Outcome outcome = program_.run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << '\n' << outcome.out << outcome.error;
    return outcome;  // NOLINT(performance-no-automatic-move)
  }
  void expect_refusal(const std::string& arguments, std::string_view part) {
    const Outcome outcome = program_.run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_TRUE(says(outcome.error, part)) << arguments;
  }
  // Checks that an uninterrupted run and a resumed one end with the same bits.
  void expect_the_same_end(const std::string& run, int steps, int stop,
                           const std::string& options = "") {
    expect_success(joined(run, options, " --steps ", steps, " --output whole.bin"));
    expect_success(joined(run, options, " --steps ", stop, " --checkpoint c.bin --restart"));
    expect_success(joined("--resume c.bin", options, " --steps ", steps, " --output resumed.bin"));
    EXPECT_EQ(program_.read("whole.bin"), program_.read("resumed.bin"));
    EXPECT_FALSE(program_.read("whole.bin").empty());
  }
  nlohmann::json record_of(const std::string& arguments) {
    expect_success(arguments + " --json r.json");
    return nlohmann::json::parse(program_.read("r.json"));
  }
  Snapshot read(const std::string& name) { return read_bodies(program_.file(name)); }
  Program program_;
};

TEST_F(CommandLine, HelpNamesEveryOption) {
  const Outcome outcome = expect_success("--help");
  std::istringstream options(
      "--input --scenario --species --systems --bodies --seed --steps --dt --softening "
      "--integrator --devices --output --snapshot-every --snapshot-dir --checkpoint --restart "
      "--resume --repeat --warmup --validate --json --quiet --diagnostics --activity-map --view");
  for (std::string option; options >> option;) EXPECT_TRUE(says(outcome.out, option));
}

TEST_F(CommandLine, CountsMayBeWrittenWithAnExponent) {
  const auto record = record_of("--scenario galaxies --bodies 4e1 --steps 2e0 --seed 1e3");
  EXPECT_EQ(record["bodies"], 40);
  EXPECT_EQ(record["steps"], 2);
}

TEST_F(CommandLine, RecordHasTheKeysOfTheSchema) {
  const auto record =
      record_of("--scenario galaxies --systems 2 --bodies 40 --steps 3 --repeat 3 --warmup 1");
  std::istringstream keys(
      "step parent revision date device backend flags systems bodies steps dt softening integrator "
      "scenario repeats median iqr interactions_per_second interactions_per_second_total errors "
      "verdict");
  for (std::string key; keys >> key;) EXPECT_TRUE(record.contains(key)) << key;
  EXPECT_EQ(record["systems"], 2);
  EXPECT_EQ(record["bodies"], 40);
  EXPECT_EQ(record["steps"], 3);
  EXPECT_EQ(record["repeats"].size(), 3u);
  EXPECT_EQ(record["verdict"], "pass");
  const double compute = record["median"]["compute"];
  EXPECT_GT(compute, 0);
  EXPECT_GE(record["median"]["total"], compute);
  // Computes the rate from the record itself: N^2 interactions for every system and step.
  const double rate = record["interactions_per_second"];
  EXPECT_NEAR(rate * compute, 2 * 40 * 40 * 3, 1e-6);
  EXPECT_LE(record["errors"]["acceleration_rms"], 1e-5);
}

TEST_F(CommandLine, UncheckedIsNotCalledPassed) {
  EXPECT_EQ(record_of("--scenario two-body --steps 1 --validate off")["verdict"], "unchecked");
}

// A step that can divide its work in several ways must report where its choice comes from. If a
// table of measured shapes has an entry for the device and the problem, the step must use this
// entry.
TEST_F(CommandLine, TunedShapesAreTakenAndNamed) {
  const std::string run = "--scenario plummer --bodies 300 --steps 2";
  std::filesystem::create_directories(program_.file("config/nbody-steps"));
  program_.write("config/nbody-steps/shapes.json", R"({"devices": {}})");
  const auto first = record_of(run + " --tuned config/nbody-steps/shapes.json");
  const auto& rule = first["shape"];
  if (rule.is_null()) GTEST_SKIP() << "nothing to choose";
  EXPECT_EQ(rule["from"], "rule");
  EXPECT_EQ(rule["rank"], 0);
  ASSERT_GT(rule["of"], 1);
  nlohmann::json table;
  auto& known = table["devices"][first["device"]["name"].get<std::string>()];
  known = {{"date", "2026-11-22"},
           {"shapes", {{{"step", first["step"]}, {"systems", 1}, {"bodies", 300}, {"rank", 1}}}}};
  program_.write("config/nbody-steps/shapes.json", table.dump());
  const auto tuned = record_of(run + " --tuned config/nbody-steps/shapes.json");
  const std::string origin = "tuned on " + first["device"]["name"].get<std::string>();
  EXPECT_EQ(tuned["shape"]["from"], origin + ", 2026-11-22");
  EXPECT_EQ(tuned["shape"]["rank"], 1);
  EXPECT_EQ(tuned["verdict"], "pass");
  // The program must find the user's table. For another problem, the rule chooses the shape.
  const std::string config = "XDG_CONFIG_HOME=" + program_.file("config").string();
  EXPECT_TRUE(says(program_.run(run, config).out, "shape        " + origin));
  EXPECT_TRUE(matches(program_.run("--scenario two-body --steps 1", config).out, "shape +rule"));
}

TEST_F(CommandLine, QuietPrintsNothing) {
  const Outcome outcome = expect_success("--scenario two-body --steps 2 --quiet");
  EXPECT_EQ(outcome.out + outcome.error, "");
}

TEST_F(CommandLine, SnapshotsDoNotChangeTheResult) {
  const std::string run =
      "--scenario plummer --bodies 50 --steps 10 --integrator leapfrog --validate off ";
  std::filesystem::create_directory(program_.file("snapshots"));
  expect_success(run + "--output plain.bin");
  expect_success(run + "--output with.bin --snapshot-every 4 --snapshot-dir snapshots");
  EXPECT_EQ(program_.read("plain.bin"), program_.read("with.bin"));
  for (const std::string name : {"00000000", "00000004", "00000008", "00000010"})
    EXPECT_TRUE(std::filesystem::exists(program_.file("snapshots/snapshot_" + name + ".bin")));
  EXPECT_EQ(program_.read("snapshots/snapshot_00000010.bin"), program_.read("plain.bin"));
}

TEST_F(CommandLine, AResumedRunEndsWithTheSameBits) {
  for (const char* integrator : {"euler", "leapfrog"}) {
    SCOPED_TRACE(integrator);
    expect_the_same_end(
        joined("--scenario galaxies --systems 2 --bodies 37 --validate off --integrator ",
               integrator),
        30, 11);
  }
}

TEST_F(CommandLine, DiagnosticsOfAResumedRunAreThoseOfAWholeOne) {
  const std::string run =
      "--scenario galaxies --systems 2 --bodies 37 --integrator leapfrog --validate off "
      "--output end.bin ";
  std::filesystem::create_directory(program_.file("snapshots"));
  const std::string snapshots = "--snapshot-every 4 --snapshot-dir snapshots ";
  expect_success(run + "--steps 10 --diagnostics whole.csv " + snapshots);
  const std::string plain = program_.read("end.bin"), whole = program_.read("whole.csv");
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 1 + 2 * 4);  // steps 0, 4, 8 and 10
  expect_success(run + "--steps 8 --diagnostics d.csv --diagnostics-every 4 --checkpoint c.bin");
  expect_success("--resume c.bin --steps 10 --validate off --diagnostics d.csv --output end.bin");
  EXPECT_EQ(program_.read("d.csv"), whole);
  EXPECT_EQ(program_.read("end.bin"), plain);
}

// The output files must not show where the first run ended or was interrupted.
TEST_F(CommandLine, WhatIsRecordedDoesNotDependOnWhereARunWasResumed) {
  const std::string records =
      "--validate off --activity-map 16 --activity-map-every 3 --diagnostics-every 4 "
      "--output end.bin --activity-map-file map --diagnostics d.csv ";
  const std::string run = "--scenario galaxies --systems 2 --bodies 37 --integrator leapfrog ";
  const auto files = [&] {
    std::string all;
    for (const char* name : {"end.bin", "map.csv", "map.pgm", "d.csv"}) all += program_.read(name);
    return all;
  };
  expect_success(run + records + "--steps 30");
  const std::string whole = files();
  for (const auto& [checkpoint, step] :
       {std::pair("c.bin", 9), {"c.bin", 11}, {"c.csv", 8}, {"c.csv", 30}}) {
    SCOPED_TRACE(checkpoint + (" at step " + std::to_string(step)));
    const std::string to = std::string(" --checkpoint ") + checkpoint + " --steps ";
    expect_success(run + records + to + std::to_string(step) + " --restart");
    expect_success(std::string("--resume ") + checkpoint + to + "30 " + records);
    EXPECT_TRUE(files() == whole);
  }
  // A map with other options could not continue the counts of the earlier run, so it would cover
  // only the last steps.
  const auto expect_refused = [&](const std::string& arguments, std::string_view part) {
    expect_refusal("--resume c.bin --steps 40 " + arguments, part);
  };
  expect_refused("--activity-map 8 --activity-map-every 3", "made with 16");
  expect_refused("--activity-map 16 --activity-map-every 2", "made with 3");
  expect_refused("--activity-map 16 --activity-map-every 3 --activity-map-extent 9", "\"9\"");
  expect_success(run + "--validate off --steps 8 --checkpoint c.bin --restart");
  expect_refused("--activity-map 16 --activity-map-every 3", "has no activity map");
  // A run that writes a map only at its end must determine the map's extent at its start too.
  expect_success(run + "--validate off --steps 30 --activity-map 16 --activity-map-file last");
  const std::string last = program_.read("last.csv");
  expect_success(
      "--resume c.bin --validate off --steps 30 --activity-map 16 --activity-map-file last");
  EXPECT_EQ(program_.read("last.csv"), last);
}

TEST_F(CommandLine, AnInterruptedRunEndsWithACheckpoint) {
  const std::string run = "--scenario plummer --bodies 300 --validate off --quiet ";
  for (const char* signal : {"INT", "TERM"}) {
    // All time steps are repeated below. The run uses a single thread, so that it takes few steps
    // before the signal. A GPU may need a second before it takes its first step.
    Outcome outcome;
    for (const char* seconds : {"0.3", "3"}) {
      outcome = program_.run(
          run + "--steps 100000000 --checkpoint c.bin --restart",
          "env OMP_NUM_THREADS=1 timeout --foreground -s " + std::string(signal) + " " + seconds);
      if (!outcome.error.empty()) break;
    }
    EXPECT_EQ(outcome.exit_code, 124) << outcome.error;  // timeout exits with this code
    EXPECT_TRUE(says(outcome.error, "interrupted after "));
    EXPECT_TRUE(says(outcome.error,
                     "the same command continues without --restart, or "
                     "--resume c.bin --steps 100000000"));
    const Snapshot checkpoint = read("c.bin");
    EXPECT_GT(checkpoint.step, 0);
    const std::string steps = "--steps " + std::to_string(checkpoint.step + 1);
    expect_success("--resume c.bin --validate off --output resumed.bin " + steps);
    expect_success(run + "--output whole.bin " + steps);
    EXPECT_EQ(program_.read("resumed.bin"), program_.read("whole.bin"));
  }
}

TEST_F(CommandLine, AnotherProgramsCheckpointIsResumedOnRequest) {
  expect_success("--scenario two-body --steps 5 --validate off --checkpoint c.bin");
  Snapshot checkpoint = read("c.bin");
  checkpoint.checkpoint["program"] = "another";
  write_bodies(program_.file("c.bin"), checkpoint);
  const Outcome outcome = expect_success("--resume c.bin --resume-anyway --steps 9");
  EXPECT_TRUE(
      says(outcome.out,
           "resumed      at step 5\n               although the file was written by another"));
}

TEST_F(CommandLine, TwoProgramsDoNotWriteOneFile) {
  const Outputs other({{"other", program_.file("c.bin")}}, {});
  expect_refusal("--scenario two-body --steps 1 --output ./c.bin",
                 "c.bin: another program is writing it now");
}

TEST_F(CommandLine, HelpToAFullDeviceIsNoSuccess) {
  const Outcome outcome = program_.run("--help", R"(sh -c '"$0" "$@" >/dev/full')");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(says(outcome.error, "cannot write to standard output"));
}

TEST_F(CommandLine, AnActivityMapShowsWhereTheBodiesWere) {
  // A single body, on which no force acts, crosses the map at x = -1.5, 0.5 and 2.5.
  program_.write("one.csv", "id,m,x,y,z,vx,vy,vz\n0,1,-3.5,-1.5,9,2,0,0\n");
  const std::string run =
      "--input one.csv --dt 1 --softening 1 --integrator leapfrog "
      "--activity-map 4 --activity-map-extent 2 ";
  const auto cells = [&](const std::string& name) {
    const std::string text = program_.read(name);
    return text.substr(text.rfind("positions="));
  };
  expect_success(run + "--steps 3 --activity-map-every 1 --activity-map-file all");
  EXPECT_EQ(cells("all.csv"),
            "positions=3\n0,0,0,0\n0,0,0,0\n0,0,0,0\n0.3333333333333333,0,0.3333333333333333,0\n");
  expect_success(run + "--steps 2");
  EXPECT_EQ(cells("activity_map.csv"), "positions=1\n0,0,0,0\n0,0,0,0\n0,0,0,0\n0,0,1,0\n");
  EXPECT_EQ(program_.read("activity_map.pgm").size(), 11u + 16u);
}

TEST_F(CommandLine, DoublePrecisionIsKeptFromStartToEnd) {
  const std::string run = "--scenario plummer --bodies 37 --integrator leapfrog --validate full";
  const std::string wide = " --precision double";
  if (program_.run(run + wide + " --steps 0").exit_code == 2)
    return expect_refusal(run + wide, "computes in float32; README.md lists the steps with");
  expect_the_same_end(run, 30, 11, wide);
  const Snapshot end = read_bodies(program_.file("whole.bin"), {.float64 = true});
  const BodyF64& body = end.exact[0];
  EXPECT_NE(body.x, double{static_cast<float>(body.x)});
  // A run that was interrupted in float64 must not continue in float32.
  expect_refusal("--resume c.bin --steps 30", "--precision: \"single\"");
}

TEST_F(CommandLine, AnOpeningAngleIsForTheTreeAlone) {
  const std::string run = "--scenario plummer --bodies 333 --steps 2 ";
  const Outcome first = program_.run(run + "--theta 0.75 --multipole 0 --json a.json");
  if (first.exit_code == 2) {
    for (const char* option : {"--theta 0.5", "--multipole 2"})
      expect_refusal(run + option,
                     "computes the direct sum; README.md lists the steps with a tree");
    expect_refusal(run + "--force-tolerance 0.1",
                   "compares no error with the force; README.md lists the steps that do");
    return;
  }
  EXPECT_EQ(first.exit_code, 0) << first.out << first.error;
  EXPECT_TRUE(says(first.out, "theta 0.75, multipole 0"));
  EXPECT_TRUE(says(program_.read("a.json"), R"({"theta":0.75,"multipole":0)"));
  for (const char* wrong : {"--theta 1.01", "--theta -0.1", "--theta nan", "--multipole 1"})
    EXPECT_EQ(program_.run(run + wrong).exit_code, 2) << wrong;
  // A resumed run must use the opening angle of the interrupted one.
  expect_the_same_end("--scenario plummer --bodies 333", 2, 1, " --theta 0.75");
  expect_refusal("--resume c.bin --steps 2", "the checkpoint was made with 0.75, 2");
}

TEST_F(CommandLine, AForceToleranceIsForStepsThatKnowTheForce) {
  const std::string run = "--scenario plummer --bodies 333 --steps 2 ";
  const Outcome first = program_.run(run + "--force-tolerance 0.25 --json a.json");
  if (first.exit_code == 2)
    return expect_refusal(run + "--force-tolerance 0.25", "compares no error with the force");
  EXPECT_EQ(first.exit_code, 0) << first.out << first.error;
  EXPECT_TRUE(says(first.out, "theta 1, multipole 2, force tolerance 0.25"));
  EXPECT_TRUE(says(program_.read("a.json"), R"("force_tolerance":0.25)"));
  for (const char* wrong : {"1.5", "-0.1", "nan", "x"})
    EXPECT_EQ(program_.run(run + "--force-tolerance " + wrong).exit_code, 2) << wrong;
  expect_the_same_end("--scenario plummer --bodies 333", 2, 1, " --force-tolerance 0.25");
  expect_refusal("--resume c.bin --steps 2", "the checkpoint was made with 1, 2, 0.25");
}

TEST_F(CommandLine, ATreeIsKeptAndSeriesHaveAnOrderOnlyWhereStepsKnowThem) {
  const std::string run = "--scenario plummer --bodies 333 --steps 3 ";
  const Outcome kept = program_.run(run + "--rebuild-every 2 --json a.json");
  if (kept.exit_code == 2) {
    expect_refusal(run + "--rebuild-every 2", "keeps no tree; README.md lists the steps that do");
  } else {
    EXPECT_EQ(kept.exit_code, 0) << kept.out << kept.error;
    EXPECT_TRUE(says(kept.out, "built every 2 steps"));
    EXPECT_TRUE(says(program_.read("a.json"), R"("rebuild_every":2)"));
    EXPECT_EQ(program_.run(run + "--rebuild-every 0").exit_code, 2);
    expect_refusal(run + "--rebuild-every 2 --diagnostics d.csv --diagnostics-every 3",
                   "a multiple of --rebuild-every, which is 2");
    // The calls of a run that writes checkpoints also end at multiples of 2.
    const std::string more =
        "--scenario plummer --systems 1 --bodies 333 --steps 9 --rebuild-every 2 --validate off ";
    EXPECT_EQ(program_.run(more + "--output a.csv").exit_code, 0);
    EXPECT_EQ(program_.run(more + "--checkpoint c.bin --output b.csv").exit_code, 0);
    EXPECT_EQ(program_.read("a.csv"), program_.read("b.csv"));
    expect_refusal("--resume c.bin --steps 11 --rebuild-every 2",
                   "after 9 steps, which is not a multiple of --rebuild-every 2");
  }
  const Outcome ordered = program_.run(run + "--order 4 --json b.json");
  if (ordered.exit_code == 2)
    return expect_refusal(run + "--order 4",
                          "expands no forces in series; README.md lists the steps that do");
  EXPECT_EQ(ordered.exit_code, 0) << ordered.out << ordered.error;
  EXPECT_TRUE(says(ordered.out, "order 4"));
  EXPECT_TRUE(says(program_.read("b.json"), R"("order":4)"));
  for (const char* wrong : {"1", "6", "3.5", "x"})
    EXPECT_EQ(program_.run(run + "--order " + wrong).exit_code, 2) << wrong;
}

// If other programs keep the cores busy, a team of threads takes milliseconds to start, too long
// for 10,000 interactions. A team sleeps between steps, so the test counts how often threads sleep.
TEST_F(CommandLine, StepsOfFewBodiesWakeNoTeam) {
  const auto sleeps = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_nvcsw;
  };
  // Only CPU steps are tested, because the emulator's own threads sleep too.
  if (!says(program_.run("--scenario two-body --steps 1").out, "(cpu)")) return;
  for (const char* precision : {"single", "double"}) {
    const long before = sleeps();
    const Outcome outcome =
        program_.run("--scenario plummer --bodies 100 --steps 2000 --validate off --precision " +
                         std::string(precision),
                     "OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive");
    EXPECT_TRUE(outcome.exit_code == 0 || says(outcome.error, "float32")) << outcome.error;
    EXPECT_LT(sleeps() - before, 1000) << precision;
  }
}

TEST_F(CommandLine, OutputIsWhatTheInputBecame) {
  program_.write("two.csv",
                 "# softening=0.001\n# dt=0.25\nname,m,x,y,z,vx,vy,vz\n"
                 "left,1,-1,0,0,1,0,0\nright,0,1,0,0,0,2,0\n");
  expect_success("--input two.csv --steps 2 --output end.csv");
  const Snapshot end = read("end.csv");
  ASSERT_EQ(end.systems.bodies.size(), 2u);
  EXPECT_EQ(end.systems.bodies[0].x,
            -0.5f);  // no force on the left body, because the right one is massless
  EXPECT_EQ(end.systems.bodies[0].vx, 1.0f);
  EXPECT_LT(end.systems.bodies[1].vx, 0.0f);
  EXPECT_EQ(end.names, (std::vector<std::string>{"left", "right"}));
  EXPECT_NEAR(end.time, 0.5, 1e-9);
}

TEST_F(CommandLine, SpeciesAreChosenAndKept) {
  Snapshot galaxy{.systems = Systems(1, 6)};
  for (std::size_t i = 0; i < 6; ++i) galaxy.systems.bodies[i].x = static_cast<float>(i);
  galaxy.species = {Species::gas,  Species::gas,  Species::dark,
                    Species::dark, Species::dark, Species::star};
  galaxy.units = "kpc-100kms";
  write_bodies(program_.file("galaxy.tipsy"), galaxy);
  expect_success("--input galaxy.tipsy --species dark,star --steps 1 --output end.tipsy");
  const Snapshot end = read("end.tipsy");
  EXPECT_EQ(end.species, (std::vector<Species>{galaxy.species.begin() + 2, galaxy.species.end()}));
  EXPECT_EQ(end.units, "kpc-100kms");
  EXPECT_EQ(end.systems.bodies[0].x, 2);
  EXPECT_EQ(end.systems.bodies[3].x, 5);

  // Tipsy has no boundaries between systems.
  const Outcome merged = program_.run("--systems 2 --bodies 4 --steps 1 --output merged.tipsy");
  EXPECT_TRUE(says(merged.out, "merged.tipsy has one system of 8 bodies")) << merged.out;
  EXPECT_EQ(read("merged.tipsy").systems.count, 1);

  const std::string scenario = "--scenario collision --systems 2 --bodies 12 --steps 0 ";
  expect_success(scenario + "--output all.bin");
  expect_success(scenario + "--species disk --output disks.bin");
  const Snapshot all = read("all.bin"), disks = read("disks.bin");
  ASSERT_EQ(disks.systems.count, 2);
  ASSERT_EQ(disks.systems.bodies_per_system, 4);  // a third of each galaxy's bodies
  EXPECT_EQ(disks.species, std::vector<Species>(8, Species::disk));
  EXPECT_EQ(disks.systems.bodies[2].x, all.systems.bodies[6].x);   // first in the second galaxy
  EXPECT_EQ(disks.systems.bodies[4].x, all.systems.bodies[12].x);  // first in the second system
}

TEST_F(CommandLine, NoStepsLeaveTheBodiesAsTheyAre) {
  const std::string run = "--scenario plummer --bodies 33 --integrator leapfrog --output ";
  const auto record = record_of(run + "start.csv --steps 0 --diagnostics d.csv");
  const Outcome again = program_.run("--input start.csv --steps 0 --output same.csv");
  EXPECT_TRUE(says(again.out, ": kinetic 0."));
  EXPECT_EQ(program_.read("same.csv"), program_.read("start.csv"));
  const std::string rows = program_.read("d.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 2) << rows;
  EXPECT_EQ(record["steps"], 0);
  EXPECT_TRUE(record["interactions_per_second"].is_null());
}

// Leapfrog with a negative time step undoes a run, except for rounding; Euler does not.
TEST_F(CommandLine, ANegativeTimeStepRunsBack) {
  const std::string there = "--scenario plummer --bodies 33 --steps 40 --dt 0.02 --output end.bin ";
  const auto distance = [&](const std::string& integrator) {
    expect_success("--scenario plummer --bodies 33 --steps 0 --output start.bin");
    expect_success(there + "--validate full --integrator " + integrator);
    expect_success("--input end.bin --steps 40 --dt -0.02 --validate full --output back.bin");
    const Snapshot start = read("start.bin"), back = read("back.bin");
    EXPECT_EQ(back.dt, -0.02);
    EXPECT_NEAR(back.time, start.time, 1e-6);
    float most = 0;
    for (std::size_t i = 0; i < 33; ++i)
      most = std::max(most, std::abs(back.systems.bodies[i].x - start.systems.bodies[i].x));
    return most;
  };
  EXPECT_LT(distance("leapfrog"), 1e-5f);
  EXPECT_GT(distance("euler"), 1e-3f);
}

TEST_F(CommandLine, EffectiveValuesArePrinted) {
  const Outcome outcome = program_.run(
      "--scenario plummer --bodies 33 --steps 2 --dt 0.01 --softening 0.3 --json r.json");
  EXPECT_TRUE(says(outcome.out, "33 bodies"));
  // Values are printed as given, not rounded to float32.
  EXPECT_TRUE(says(outcome.out, "of dt 0.01, softening 0.3,"));
  const auto record = nlohmann::json::parse(program_.read("r.json"));
  EXPECT_EQ(record["dt"], 0.01);
  EXPECT_EQ(record["softening"], 0.3);
  // If the file lacks a value, the program must not say that the value comes from the file.
  const auto is_said = [&](const std::string& keys, const std::string& options, const char* name) {
    program_.write("one.csv", keys + "x,y,vx,vy\n0,0,0,0\n");
    return says(program_.run("--input one.csv --steps 1 " + options).out,
                joined("default      ", name, ": the file does not give it"));
  };
  EXPECT_TRUE(is_said("", "", "dt"));
  EXPECT_TRUE(is_said("", "--dt 1", "softening"));
  EXPECT_FALSE(is_said("", "--dt 1", "dt"));
  EXPECT_FALSE(is_said("# dt=1\n# softening=1\n", "", "dt"));
  EXPECT_FALSE(is_said("# dt=1\n# softening=1\n", "", "softening"));
  EXPECT_TRUE(says(outcome.out, "verdict"));
}

TEST(CommandLineWithoutDevice, SkipsVisiblyAndFailsWhenAGpuIsRequired) {
  const Program program;
  const std::string run = "--scenario two-body --steps 1";
  const std::string none = "HOSTCUDA_DEVICES=0 CUDA_VISIBLE_DEVICES=";
  const Outcome outcome = program.run(run, "-u NBODY_REQUIRE_GPU " + none);
  if (outcome.exit_code == 0) GTEST_SKIP() << "a CPU program needs no device";
  EXPECT_EQ(outcome.exit_code, 77);
  EXPECT_TRUE(says(outcome.error, "no CUDA device"));
#ifdef NBODY_CUDA  // the message names the CPU program and its build command
  const std::string name = program.name(), build = "./nbody build " + name;
  EXPECT_TRUE(says(outcome.error, build + ", then build/cpu/" + name + "/" + name))
      << outcome.error;
#endif
  EXPECT_EQ(program.run(run, none + " NBODY_REQUIRE_GPU=1").exit_code, 1);
}

}  // namespace
}  // namespace nbody::test
