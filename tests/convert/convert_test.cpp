// Tests the command line of nbody-convert: the data that it keeps, its messages, and the input that
// it rejects.
#include <gtest/gtest.h>

#include "io/snapshot_file.h"
#include "io/units.h"
#include "program.h"

namespace nbody::test {
namespace {

const std::string kGalaxy =
    "# time=0.5\n# softening=0.1\n# units=kpc-100kms\nid,species,m,x,y,z,vx,vy,vz\n"
    "0,gas,0.5,1,2,3,4,5,6\n1,dark,1,10,0,0,0,1,0\n2,dark,1,-10,0,0,0,-1,0\n"
    "3,star,0.25,0,0,7,8,9,10\n";

class Convert : public testing::Test {
 protected:
  Convert() { program_.write("galaxy.csv", kGalaxy); }
  Outcome expect_success(const std::string& arguments) {
    const Outcome outcome = program_.run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << '\n' << outcome.error;
    EXPECT_EQ(outcome.error, "");
    return outcome;
  }
  Snapshot read(const std::string& name) { return read_bodies(program_.file(name)); }
  Program program_;
};

TEST_F(Convert, ThereAndBackThroughEveryFormat) {
  expect_success("galaxy.csv first.csv");  // the text as our writer formats it
  expect_success("galaxy.csv a.tipsy");
  expect_success("a.tipsy b --to tipsy-little");
  expect_success("b c.bin");
  expect_success("c.bin last.csv");
  EXPECT_EQ(program_.read("last.csv"), program_.read("first.csv"));
  expect_success("last.csv again.tipsy");
  EXPECT_EQ(program_.read("again.tipsy"), program_.read("a.tipsy"));
}

TEST_F(Convert, SaysWhatItReadAndWrote) {
  const std::string out = expect_success("galaxy.csv a.tipsy").out;
  for (const char* line :
       {"read galaxy.csv: CSV", "units +kpc-100kms: 1 kpc, 2.32509e.09 Msun",
        "1 system of 4, float32, time 0.5", "gas +1 bodies, mass 0.5", "dark +2 bodies, mass 2",
        "star +1 bodies, mass 0.25", "mass +2.75", "extent +x -10 to 10, y 0 to 2, z 0 to 7",
        "centre +0.181818, 0.363636, 1.18182", "velocity +1.45455, 1.72727, 2",
        "virial +2T/.W. = [0-9.]+ .softening 0.1", "wrote a.tipsy: Tipsy, big-endian"})
    EXPECT_TRUE(matches(out, line)) << line << "\n" << out;
  EXPECT_EQ(out.find("lost"), std::string::npos) << out;
  EXPECT_TRUE(says(expect_success("a.tipsy b.csv").out, "not read     rho, temp"));
}

TEST_F(Convert, SaysThatTheSofteningOfTipsyFilesIsAnother) {
  const auto notes = [&](const std::string& arguments) {
    const std::string out = expect_success(arguments).out;
    return out.find("note         the softening here is Plummer's; in") != std::string::npos;
  };
  EXPECT_TRUE(notes("galaxy.csv a.tipsy"));
  EXPECT_TRUE(notes("a.tipsy a.csv"));
  EXPECT_FALSE(notes("galaxy.csv b.csv"));
  program_.write("none.csv", "x,y,vx,vy\n0,0,0,0\n");
  EXPECT_FALSE(notes("none.csv none.tipsy"));
}

TEST_F(Convert, ATipsyFileWithoutUnitsNeedsThem) {
  expect_success("galaxy.csv a.tipsy");
  std::filesystem::remove(program_.file("a.param"));
  const Outcome refused = program_.run("a.tipsy a.bin");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(matches(refused.error, "a.tipsy: .*--from-units .henon, .*kpc-msun"))
      << refused.error;
  EXPECT_FALSE(std::filesystem::exists(program_.file("a.bin")));
  expect_success("a.tipsy a.bin --from-units kpc-msun");
  EXPECT_EQ(read("a.bin").units, "kpc-msun");
  expect_success("a.tipsy a.bin --from-units henon");
}

TEST_F(Convert, KeepsATimeStepThatRunsBack) {
  program_.write("back.csv", "# units=kpc-100kms\n# dt=-0.5\nx,y,vx,vy\n0,0,0,0\n");
  expect_success("back.csv a.tipsy");
  expect_success("a.tipsy b.bin");
  expect_success("b.bin c.csv");
  EXPECT_EQ(read("c.csv").dt, -0.5);
}

TEST_F(Convert, SaysWhatIsLost) {
  program_.write("two.csv",
                 "# systems=2\n# step=3\nname,x,y,vx,vy\na,0,0,0,0\na,1.00000000001,0,0,0\n");
  const std::string out = expect_success("two.csv a.raw").out;
  for (const char* lost : {"names", "digits beyond float32", "boundaries between systems", "step"})
    EXPECT_TRUE(says(out, lost));
}

TEST_F(Convert, VirialRatioIsThatOfTheCentredSystem) {
  // Two bodies orbit a centre that moves, so 2T/|W| = 1 holds only in the frame of that centre.
  program_.write("orbit.csv",
                 "m,x,y,vx,vy\n1,99.5,0,7,0.70710678118654757\n"
                 "1,100.5,0,7,-0.70710678118654757\n");
  const std::string out = expect_success("orbit.csv a.bin").out;
  EXPECT_TRUE(says(out, "2T/|W| = 1 (softening unknown"));
}

TEST_F(Convert, CentresEverySystem) {
  program_.write("two.csv",
                 "# systems=2\nm,x,y,z,vx,vy,vz\n1,1,1,1,1,1,1\n3,5,5,5,5,5,5\n"
                 "2,100,0,0,0,0,0\n2,102,0,0,0,0,8\n");
  expect_success("two.csv a.csv --centre");
  const Snapshot read = this->read("a.csv");
  EXPECT_EQ(read.systems.bodies[0].x, -3);
  EXPECT_EQ(read.systems.bodies[1].vz, 1);
  EXPECT_EQ(read.systems.bodies[2].x, -1);
  EXPECT_EQ(read.systems.bodies[3].vz, 4);
}

TEST_F(Convert, Units) {
  expect_success("galaxy.csv a.bin --units kpc-msun");
  EXPECT_EQ(read("a.bin").units, "kpc-msun");
  EXPECT_NEAR(read("a.bin").systems.bodies[1].mass / 2.32508541e9, 1, 1e-6);
  expect_success("galaxy.csv plain.tipsy --species dark,star");
  EXPECT_EQ(read("plain.tipsy").systems.bodies_per_system, 3);
  // The following command gives units to a model that has no physical scale.
  program_.write("henon.csv", "# units=henon\nx,y,vx,vy\n1,2,3,4\n");
  expect_success("henon.csv b.csv --from-units kpc-100kms --units au-msun-yr2pi");
  EXPECT_EQ(read("b.csv").units, "au-msun-yr2pi");
  EXPECT_NEAR(read("b.csv").systems.bodies[0].x * kAu / kKpc, 1, 1e-6);
}

TEST_F(Convert, KeepsFloat64WhereThereIsMore) {
  const std::string data = NBODY_SOURCE_DIR "/data/solar_system_j2000.csv";
  expect_success("'" + data + "' a.bin");
  expect_success("a.bin b.csv");
  const Snapshot first = read_bodies(data, {.float64 = true});
  const Snapshot last = read_bodies(program_.file("b.csv"), {.float64 = true});
  ASSERT_EQ(first.exact.size(), last.exact.size());
  for (std::size_t i = 0; i < first.exact.size(); ++i) EXPECT_EQ(first.exact[i].x, last.exact[i].x);
}

TEST_F(Convert, ColumnsCanBeSaid) {
  program_.write("table.txt", "1 2 3 4 5 6 7\n8 9 10 11 12 13 14\n");
  expect_success("table.txt a.csv --columns m,x,y,z,vx,vy,vz");
  EXPECT_EQ(read("a.csv").systems.bodies[1].vz, 14);
  program_.write("tabs.txt", "# made by NEMO\n1\t2\t3\t4\t5\t6\t7\n8\t9\t10\t11\t12\t13\t14\n");
  program_.write("semicolons.txt", "1;2; 3;4;5;6;7\r\n8;9;10;11;12;13;14\r\n");
  program_.write("blanks.txt", "  1.  2. +3. 4.e0 5 6 7\n 8 9 10   11 12 13 14 \n");
  for (const char* name : {"tabs.txt", "semicolons.txt", "blanks.txt"}) {
    expect_success(std::string(name) + " other.csv --columns m,x,y,z,vx,vy,vz");
    EXPECT_EQ(program_.read("other.csv"), program_.read("a.csv")) << name;
  }
  EXPECT_TRUE(says(program_.run("table.txt b.csv").error, "--columns m,x,y,z,vx,vy,vz"));
  EXPECT_TRUE(says(program_.run("a.csv b.bin --columns x,y,vx,vy").error, "a.csv"));
  const Outcome outcome = program_.run("table.txt b.csv --columns m,x,y");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(says(outcome.error, "--columns: column vx is missing"));
}

TEST_F(Convert, TheFormatCanBeSaid) {
  program_.write("a.raw", std::string(48, '\0'));
  expect_success("a.raw a.txt --from raw --to csv");
  EXPECT_EQ(read("a.txt").systems.bodies.size(), 2u);
}

// An earlier version let a command replace its input, which lost 2,500 bodies.
TEST_F(Convert, DoesNotReplaceItsInput) {
  expect_success("galaxy.csv a.tipsy");
  expect_success("galaxy.csv run.00010 --to tipsy");
  std::filesystem::create_directory(program_.file("sub"));
  std::filesystem::create_symlink("a.tipsy", program_.file("link.tipsy"));
  const BadInput cases[] = {
      {"a.tipsy a.tipsy --species star", "IN is the same file"},
      {"a.tipsy ./sub/../a.tipsy --species star", "IN is the same file"},
      {"a.tipsy link.tipsy --species star", "IN is the same file"},
      {"link.tipsy a.tipsy --species star", "IN is the same file"},
      // The output's run.param would overwrite the units of the input.
      {"run.00010 run.tipsy --units kpc-msun", "IN is the same file"},
  };
  expect_refused(program_, cases);
}

TEST_F(Convert, AFullDeviceIsNoSuccess) {
  EXPECT_EQ(program_.run("galaxy.csv /dev/full --to csv").exit_code, 1);
  const Outcome outcome = program_.run("galaxy.csv a.bin", R"(sh -c '"$0" "$@" >/dev/full')");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.error, "nbody-convert: cannot write to standard output\n");
}

TEST_F(Convert, ACheckpointStaysOneWhileItsBodiesDo) {
  Snapshot checkpoint = read("galaxy.csv");
  checkpoint.checkpoint = {{"program", "step00"}, {"seed", "7"}};
  write_bodies(program_.file("c.bin"), checkpoint);
  EXPECT_EQ(expect_success("c.bin c.csv").out.find("lost"), std::string::npos);
  EXPECT_EQ(read("c.csv").checkpoint, checkpoint.checkpoint);
  EXPECT_TRUE(says(expect_success("c.bin d.bin --centre").out,
                   "lost         the checkpoint data that --resume needs"));
  EXPECT_TRUE(read("d.bin").checkpoint.empty());
}

const BadInput kCases[] = {
    {"", "IN is required"},
    {"galaxy.csv", "OUT is required"},
    {"galaxy.csv a.csv b.csv", "b.csv"},
    {"galaxy.csv a.txt", "a.txt.*belongs to no format; known: .bin, .hdf5, .tipsy, .csv, .raw"},
    {"missing.csv a.bin", "missing.csv cannot be opened"},
    {"folder a.bin", "folder is a folder"},
    {"galaxy.csv folder --to csv", "folder"},
    {"galaxy.csv nowhere/a.bin", "nowhere"},
    {"galaxy.csv a.bin --to fits", "--to: \"fits\".*bin, csv, gadget, raw, tipsy, tipsy-little"},
    {"galaxy.csv a.bin --from tipsy-little", "--from: \"tipsy-little\".*bin, csv"},
    {"galaxy.csv a.bin --from tipsy", "galaxy.csv: not Tipsy"},
    {"galaxy.csv a.bin --from bin", "galaxy.csv"},
    {"galaxy.csv a.bin --units parsec", "--units: \"parsec\".*henon, au-msun-yr2pi"},
    {"galaxy.csv a.bin --units henon", "cannot be converted to henon units"},
    {"galaxy.csv a.bin --from-units kpc-msun", "--from-units: \"kpc-msun\".*kpc-100kms"},
    {"plain.csv a.bin --units kpc-msun", "plain.csv: its units are not known"},
    {"galaxy.csv a.bin --species stars", "--species: \"stars\""},
    {"galaxy.csv a.bin --species disk", "has no body of the species disk; it has gas, dark, star"},
    {"plain.csv a.bin --species dark", "plain.csv does not say the species"},
    {"plain.csv a.hdf5", "a.hdf5.*(not known|without HDF5)"},
    {"galaxy.csv a.raw", "a.raw: body 0 has mass 0.5"},
    {"staggered.csv a.raw", "a.raw: .*half a step apart.*raw cannot represent: write .bin or .csv"},
    {"staggered.csv a.tipsy", "a.tipsy: .*tipsy cannot represent: write .bin or .csv"},
    {"zero.raw a.bin --columns x,y,vx,vy", "--columns: zero.raw is raw, not a table in text"},
    {"galaxy.csv a.bin --columns x,y,vx,vy --from bin",
     "--columns: galaxy.csv is BIN, not a table"},
    {"nan.csv a.bin", "nan.csv:2"},
    {"short.bin a.csv", "short.bin: 143 bytes"},
    {"hdf5 a.csv", "hdf5: .*(cut off or damaged|without HDF5)"},
    {"theirs.csv theirs.tipsy", "theirs.param exists and was not written by this project"},
    {"galaxy.csv a.bin --nonsense", "--nonsense"},
};

TEST_F(Convert, NonsenseGetsOneLineAndWritesNothing) {
  program_.write("plain.csv", "x,y,vx,vy\n0,0,0,0\n");
  program_.write("nan.csv", "x,y,vx,vy\n0,nan,0,0\n");
  program_.write("staggered.csv", "# integrator=leapfrog\n# staggered=1\nx,y,vx,vy\n0,0,0,0\n");
  program_.write("zero.raw", std::string(48, '\0'));
  program_.write("theirs.csv", "x,y,vx,vy\n0,0,0,0\n");
  program_.write("theirs.param", "dKpcUnit = 1\n");
  program_.write("short.bin", "NBODYBIN" + std::string(135, '\0'));
  program_.write("hdf5", "\x89HDF\r\n\x1a\n" + std::string(2000, '\1'));
  std::filesystem::create_directory(program_.file("folder"));
  expect_refused(program_, kCases);
}

}  // namespace
}  // namespace nbody::test
