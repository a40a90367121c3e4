// Tests that an invalid command line or a malformed file causes a one-line message (what, where,
// what is allowed) and exit code 2, and that no file is written.
#include <gtest/gtest.h>

#include <algorithm>

#include "io/snapshot_file.h"
#include "program.h"

namespace nbody::test {
namespace {

// Writes the files that the test cases use.
void make_files(const Program& program) {
  const std::string header = "id,m,x,y,z,vx,vy,vz\n";
  std::string rows;
  for (int i = 0; i < 20; ++i)
    rows += std::to_string(i) + ",1,0,0," + std::to_string(i) + ",0,0,0\n";
  program.write("good.csv", header + rows);
  std::string nan = header;
  for (int i = 0; i < 15; ++i) nan += "0,1,0,0,0,0,0,0\n";
  program.write("nan.csv", nan + "0,1,0,nan,0,0,0,0\n");  // the NaN is in line 17
  program.write("short.csv", header + "0,1,0,0,0,0,0\n");
  program.write("negative.csv", header + "0,-1,0,0,0,0,0,0\n");
  program.write("words.csv", header + "0,1,zero,0,0,0,0,0\n");
  program.write("heavy.csv", header + "0,1000,0,0,0,0,0,0\n");
  program.write("empty.csv", "");
  program.write("odd.raw", std::string(25, '\1'));
  Snapshot snapshot{.systems = Systems(1, 4)};
  for (Body& body : snapshot.systems.bodies) body = {1, 2, 3, 4, 5, 6, 7};
  snapshot.dt = 0.5;
  snapshot.softening = 0.25;
  snapshot.step = 10;
  snapshot.checkpoint = {{"precision", "single"}, {"program", "another"}, {"seed", "7"}};
  write_bodies(program.file("good.bin"), snapshot);
  const std::string whole = program.read("good.bin");
  program.write("truncated.bin", whole.substr(0, whole.size() - 5));
  std::string swapped = whole;
  std::reverse(swapped.begin() + 12, swapped.begin() + 16);
  program.write("swapped.bin", swapped);
  std::string huge = whole;
  huge[27] = '\x7f';  // the highest byte of the number of systems
  program.write("huge.bin", huge);
  snapshot.checkpoint.clear();
  write_bodies(program.file("snapshot.bin"), snapshot);
  snapshot.systems.bodies.back().mass = 8;
  snapshot.species = {Species::dark, Species::star, Species::star, Species::star};
  write_bodies(program.file("good.tipsy"), snapshot);
  const std::string tipsy = program.read("good.tipsy");
  program.write("truncated.tipsy", tipsy.substr(0, 192));  // as large as 8 raw bodies
  std::string lying = tipsy;
  lying[20] = '\x80';  // the number of dark bodies becomes negative
  program.write("lying.tipsy", lying);
  program.write("gadget.hdf5", "\x89HDF\r\n\x1a\n" + std::string(100, '\0'));
  program.write("theirs.param", "dKpcUnit = 1\n");
  std::filesystem::create_directory(program.file("folder"));
  std::filesystem::create_directory(program.file("old"));
  program.write("old/snapshot_00000004.bin", "");
}

const BadInput kCases[] = {
    {"--bodies abc", "--bodies: \"abc\".*whole number from 1 to"},
    {"--bodies 0", "--bodies: \"0\".*whole number from 1 to"},
    {"--bodies -4", "--bodies: \"-4\".*whole number from 1 to"},
    {"--bodies 12abc", "--bodies: \"12abc\""},
    {"--bodies 1.5", "--bodies: \"1.5\".*whole number from 1 to"},
    {"--bodies 1e-3", "--bodies: \"1e-3\".*whole number from 1 to"},
    {"--bodies 1.25e1", "--bodies: \"1.25e1\".*whole number from 1 to"},
    {"--bodies 1e10", "--bodies: \"1e10\".*whole number from 1 to"},
    {"--seed 1e17", "--seed: \"1e17\""},
    {"--bodies ' 5'", "--bodies: \" 5\""},
    {"--bodies ''", "--bodies: \"\""},
    {"--bodies 99999999999999999999", "--bodies: \"99999999999999999999\""},
    {"--bodies", "--bodies"},
    {"--bodies 5 --bodies 6", "--bodies"},
    {"--systems 0", "--systems: \"0\""},
    {"--systems 2.5", "--systems: \"2.5\""},
    {"--systems 100000 --bodies 100000", "at most 2147483647"},
    {"--steps -1", "--steps: \"-1\".*from 0 to"},
    {"--steps many", "--steps: \"many\""},
    {"--dt -1e-31", "--dt: \"-1e-31\".*1e-30.*or its negative"},
    {"--dt 0", "--dt: \"0\""},
    {"--dt nan", "--dt: \"nan\""},
    {"--dt inf", "--dt: \"inf\""},
    {"--dt 1e39", "--dt: \"1e39\""},
    {"--dt 0,1", "--dt: \"0,1\""},
    {"--softening 1e-13", "--softening: \"1e-13\".*1e-12.*overflows float32"},
    {"--softening 0", "--softening: \"0\""},
    {"--softening -0.1", "--softening: \"-0.1\""},
    {"--input heavy.csv --softening 1e-12", "--softening: \"1e-12\".*mass of 1000.*at least"},
    {"--softening 1e30", "--softening: \"1e[+]?30\".*square overflows float32.*at most 1.8e19"},
    {"--integrator rk4", "--integrator: \"rk4\".*euler, leapfrog"},
    {"--scenario andromeda", "andromeda.*plummer.*solar-system"},
    {"--scenario solar-system --bodies 9", "--bodies: \"9\".*11"},
    {"--validate maybe", "--validate: \"maybe\".*auto, full, off, sampled"},
    {"--devices 0", "--devices: \"0\""},
    {"--devices 65", "--devices: \"65\""},
    {"--seed -1", "--seed: \"-1\""},
    {"--repeat 0", "--repeat: \"0\""},
    {"--warmup -1", "--warmup: \"-1\""},
    {"--nonsense", "unknown option --nonsense \\(see"},
    {"--bodys 100", "unknown option --bodys: did you mean --bodies\\?"},
    {"--setps=3", "unknown option --setps: did you mean --steps\\?"},
    {"--diag d.csv", "unknown option --diag: did you mean --diagnostics"},
    {"nonsense", "nonsense"},
    {"--quiet=maybe", "quiet"},
    {"--input missing.csv", "missing.csv"},
    {"--input folder", "folder"},
    {"--input empty.csv", "empty.csv"},
    {"--input nan.csv", "nan.csv:17.*nan"},
    {"--input short.csv", "short.csv:2"},
    {"--input negative.csv", "negative.csv:2.*-1"},
    {"--input words.csv", "words.csv:2.*zero"},
    {"--input odd.raw", "odd.raw"},
    {"--input truncated.bin", "truncated.bin"},
    {"--input swapped.bin", "swapped.bin.*endian"},
    {"--input huge.bin", "huge.bin"},
    {"--input truncated.tipsy", "truncated.tipsy: Tipsy, big-endian: 192 bytes.*196 or 200"},
    {"--input lying.tipsy", "lying.tipsy.*-2147483647 dark"},
    {"--input gadget.hdf5", "gadget.hdf5.*nbody-convert"},
    {"--input good.tipsy --species dust", "--species: \"dust\".*gas, dark, disk, bulge, star"},
    {"--input good.tipsy --species gas,star", "good.tipsy.*species gas; it has dark, star"},
    {"--input good.csv --species dark", "good.csv does not say the species"},
    {"--scenario plummer --species dark", "plummer does not say the species.*galaxies"},
    {"--scenario collision --species gas", "collision has no body of the species gas.*dark, disk"},
    {"--resume a.bin --species dark", "--species.*--resume"},
    {"--input good.csv --bodies 7", "good.csv.*20.*7|good.csv.*7.*20"},
    {"--input good.csv --systems 3", "good.csv.*20.*3|good.csv.*3.*20"},
    {"--input good.csv --scenario plummer", "--input, --scenario and --resume exclude"},
    {"--output nowhere/final.csv", "nowhere"},
    {"--output folder", "folder"},
    {"--output final.xyz", "final.xyz.*csv"},
    {"--output final.raw", "final.raw.*masses"},
    {"--output final.hdf5", "final.hdf5.*nbody-convert"},
    {"--output theirs.tipsy", "theirs.param exists and was not written by this project"},
    {"--checkpoint c.raw", "--checkpoint: \"c.raw\".*resumes only from .bin and .csv"},
    {"--checkpoint c.txt", "--checkpoint: \"c.txt\".*resumes only from .bin and .csv"},
    {"--json nowhere/record.json", "nowhere"},
    {"--timeline nowhere/t.csv", "nowhere"},
    {"--tuned nowhere.json", "nowhere.json: cannot be read"},
    {"--tuned good.csv", "good.csv:1: not JSON; the file must be a table that ./nbody tune wrote"},
    {"--tuned good.csv --json folder/../good.csv", "--json: .*--tuned is the same file"},
    {"--checkpoint nowhere/c.bin", "nowhere"},
    {"--snapshot-every 5", "--snapshot-every and --snapshot-dir must be given together"},
    {"--snapshot-dir folder", "--snapshot-every and --snapshot-dir must be given together"},
    {"--snapshot-every 5 --snapshot-dir nowhere", "nowhere"},
    {"--snapshot-every 5 --snapshot-dir folder --repeat 2", "--repeat and --warmup"},
    {"--diagnostics nowhere/d.csv", "nowhere"},
    {"--diagnostics d.csv --repeat 2", "--repeat and --warmup"},
    {"--diagnostics-every 5", "--diagnostics-every needs --diagnostics"},
    {"--diagnostics-exact", "--diagnostics-exact needs --diagnostics"},
    {"--diagnostics d.csv --diagnostics-every 0", "--diagnostics-every: \"0\""},
    {"--resume good.bin --steps 20 --resume-anyway --diagnostics good.csv",
     "good.csv.*not a diagnostics file"},
    {"--activity-map 0", "--activity-map: \"0\".*from 1 to 8192"},
    {"--activity-map 8193", "--activity-map: \"8193\".*from 1 to 8192"},
    {"--activity-map-every 2", "needs --activity-map"},
    {"--activity-map-extent 2", "needs --activity-map"},
    {"--activity-map-file map", "needs --activity-map"},
    {"--activity-map 4 --activity-map-extent nan", "--activity-map-extent: \"nan\""},
    {"--activity-map 4 --activity-map-file nowhere/map", "nowhere"},
    {"--activity-map 4 --warmup 1", "--repeat and --warmup"},
    {"--checkpoint c.bin --warmup 1", "--repeat and --warmup"},
    {"--resume missing.bin --steps 20", "missing.bin"},
    {"--resume good.bin", "--resume needs --steps"},
    {"--resume good.bin --steps 9", "--steps: \"9\".*already taken 10"},
    {"--resume good.bin --steps 20 --dt 0.1", "--dt: \"0.1\".*0.5"},
    {"--resume good.bin --steps 20 --softening 0.1", "--softening: \"0.1\".*0.25"},
    {"--resume good.bin --steps 20 --integrator leapfrog", "--integrator: \"leapfrog\".*euler"},
    {"--resume good.csv --steps 20", "not a checkpoint"},
    {"--resume good.bin --steps 20", "--resume: good.bin was written by another.*--resume-anyway"},
    {"--resume snapshot.bin --steps 20", "snapshot.bin is a snapshot.*--resume-anyway"},
    {"--resume good.bin --steps 20 --seed 8", "--seed: \"8\".*made with 7"},
    {"--resume snapshot.bin --steps 20 --seed 8", "--seed: \"8\".*made with none"},
    {"--resume-anyway", "--resume-anyway needs --resume"},
    {"--input good.csv --output ./good.csv", "--output: \"./good.csv\".*--input is the same file"},
    {"--input good.csv --json folder/../good.csv", "--json: .*--input is the same file"},
    {"--resume good.bin --steps 20 --resume-anyway --output good.bin",
     "--output: \"good.bin\".*--resume is the same file"},
    {"--output a.csv --diagnostics ./a.csv", "--diagnostics: \"./a.csv\".*--output is the same"},
    {"--checkpoint a.bin --output folder/../a.bin", "--checkpoint: .*--output is the same file"},
    {"--input good.tipsy --output good.csv --json good.param",
     "--json: .*--input is the same file"},
    {"--activity-map 4 --activity-map-file a --json a.pgm", "--activity-map-file: .*--json is the"},
    {"--snapshot-every 1 --snapshot-dir . --output snapshot_00000002.bin",
     "snapshot_00000002.bin.*a snapshot has that name"},
    {"--snapshot-every 1 --snapshot-dir old", "old.*snapshots of an earlier run"},
};

TEST(BadInput, GetsOneLineAndExitCode2) {
  const Program program;
  make_files(program);
  expect_refused(program, kCases);
}

TEST(BadInput, OfDevicesIsFoundOnceTheyAreCounted) {
  const Program program;
  if (!has_device(program)) GTEST_SKIP() << "no device";
  const BadInput cases[] = {{"--devices 64 --scenario two-body", "--devices: \"64\""}};
  expect_refused(program, cases);
}

}  // namespace
}  // namespace nbody::test
