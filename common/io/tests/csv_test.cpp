// Tests the CSV format: the forms that are accepted, and the messages for invalid lines.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/tests/refusal.h"
#include "support/tests/said.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

class Csv : public WithFolder {
 protected:
  Snapshot read(std::string_view text, const ReadOptions& options = {}) {
    return read_bodies(folder.with("a.csv", text), options);
  }
  // Returns the error message, without the directory in front of the file name, or "accepted".
  std::string refusal(std::string_view text) {
    const std::string path = folder / "";
    std::string message = refusal_of([&] { read(text); });
    if (message == "accepted") return message;
    EXPECT_TRUE(message.starts_with(path)) << message;
    return message.substr(path.size());
  }
  // Returns the error message or "accepted" for a file whose third line is the row of a single
  // body.
  std::string row(std::string_view values) {
    return refusal("# time=0\nx,y,vx,vy,m\n" + std::string(values) + "\n");
  }
  std::string key(std::string_view line) {
    return refusal("# " + std::string(line) + "\nx,y,vx,vy\n0,0,0,0\n");
  }
};

TEST_F(Csv, ColumnsInAnyOrder) {
  const Body body = read("vz,m,y,x,id,vy,z,vx\n6,7,2,1,99,5,3,4\n").systems.bodies.at(0);
  EXPECT_EQ(values_of(body), (Values{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Csv, OptionalColumnsHaveDefaults) {
  const Body body = read("x,y,vx,vy\n1,2,3,4\n").systems.bodies.at(0);
  EXPECT_EQ(values_of(body), (Values{1, 2, 0, 3, 4, 0, 1}));
  EXPECT_EQ(read("x,y,vx,vy,mass\n1,2,3,4,5\n").systems.bodies.at(0).mass, 5);
}

TEST_F(Csv, HabitsOfOtherPrograms) {
  // This file has a byte order mark, CRLF, blank lines, spaces and a plus sign, but no final
  // newline.
  const Snapshot snapshot = read(
      "\xEF\xBB\xBF# time = 2.5\r\n\r\n# a note\r\nx, y ,vx,vy\r\n 1 ,\t+2,3e0,.5\r\n\n"
      "# another = note\r\n5,6,7,8");
  EXPECT_EQ(snapshot.time, 2.5);
  ASSERT_EQ(snapshot.systems.bodies.size(), 2u);
  EXPECT_EQ(snapshot.systems.bodies[0].y, 2);
  EXPECT_EQ(snapshot.systems.bodies[0].vy, 0.5f);
  EXPECT_EQ(snapshot.systems.bodies[1].vy, 8);
}

TEST_F(Csv, TextPastTheFirstKibibyteMayBeAnything) {
  // The 1024th byte is the first of a two-byte letter. Only the first 1024 bytes decide the format,
  // and a letter that is cut in half at their end must not make the file look binary.
  const std::string head = "# ";
  const Snapshot snapshot =
      read(head + std::string(1023 - head.size(), 'a') + "\xC3\xA9\nx,y,vx,vy\n1,2,3,4\n");
  EXPECT_EQ(snapshot.systems.bodies.at(0).x, 1);
}

TEST_F(Csv, ReadsEveryKey) {
  const Snapshot snapshot = read(
      "# time=1\n# step=2\n# G=1\n# softening=3\n# dt=4\n# integrator=leapfrog\n"
      "# staggered=1\n# systems=2\n# scenario=s\n# units=G = 1\nx,y,vx,vy\n"
      "0,0,0,0\n0,0,0,0\n");
  EXPECT_EQ(snapshot.time, 1);
  EXPECT_EQ(snapshot.step, 2);
  EXPECT_EQ(snapshot.softening, 3);
  EXPECT_EQ(snapshot.dt, 4);
  EXPECT_EQ(snapshot.integrator, Integrator::leapfrog);
  EXPECT_TRUE(snapshot.staggered);
  EXPECT_EQ(snapshot.systems.count, 2);
  EXPECT_EQ(snapshot.scenario, "s");
  EXPECT_EQ(snapshot.units, "G = 1");
}

// Reads tables in the form that NEMO's snapprint and other programs write.
TEST_F(Csv, TablesOfOtherPrograms) {
  for (const char* text :
       {"# a note\n1 2 3\t4 5 6 7\n  8   9 10 11 12 13 14  \n",
        "1;2;3;4;5;6;7\n8; 9;10;11;12;13;14\n", "1,2,3,4,5,6,7\n8,9,10,11,12,13,14"}) {
    SCOPED_TRACE(text);
    const Snapshot read = this->read(text, {.columns = "m,x,y,z,vx,vy,vz"});
    ASSERT_EQ(read.systems.bodies.size(), 2u);
    EXPECT_EQ(values_of(read.systems.bodies[0]), (Values{2, 3, 4, 5, 6, 7, 1}));
    EXPECT_EQ(values_of(read.systems.bodies[1]), (Values{9, 10, 11, 12, 13, 14, 8}));
    const Body skipped = this->read(text, {.columns = "-,x,y,-,vx,vy,-"}).systems.bodies.at(1);
    EXPECT_EQ(values_of(skipped), (Values{9, 10, 0, 12, 13, 0, 1}));
    EXPECT_THROW(this->read(text, {.columns = "x,y,vx,vy"}), UsageError);
    EXPECT_THROW(this->read(text, {.columns = "m,x,y,z,vx,vy,speed"}), UsageError);
  }
  EXPECT_EQ(read("x y\tvx  vy m\n1 2 3 4 5\n").systems.bodies.at(0).mass, 5);
  EXPECT_EQ(read("x;y;vx;vy;m\n1;2;3;4;5\n").systems.bodies.at(0).mass, 5);
  EXPECT_EQ(read("name;x;y;vx;vy\na b;1;2;3;4\n").names, std::vector<std::string>{"a b"});
}

TEST_F(Csv, NamesAreThoseOfOneSystem) {
  const std::string same = "name,x,y,vx,vy\na,0,0,0,0\nb,0,0,0,0\na,0,0,0,0\nb,0,0,0,0\n";
  EXPECT_EQ(read(same, {.systems = 2, .bodies = {}}).names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read(same).names, (std::vector<std::string>{"a", "b", "a", "b"}));
  const std::string differ = "name,x,y,vx,vy\na,0,0,0,0\nb,0,0,0,0\n";
  EXPECT_TRUE(read(differ, {.systems = 2, .bodies = {}}).names.empty());
}

TEST_F(Csv, WrittenForm) {
  Snapshot snapshot{.systems = Systems(2, 1)};
  snapshot.systems.bodies = {{0.1f, 2, 3, 4, 5, 6, 7}, {1e-30f, 0, 0, 0, 0, 0, 1}};
  snapshot.dt = 0.1;
  write_bodies(folder / "a.csv", snapshot);
  EXPECT_EQ(folder.content("a.csv"),
            "# time=0\n# step=0\n# G=1\n# softening=0\n# dt=0.10000000000000001\n"
            "# integrator=euler\n# staggered=0\n# systems=2\n# bodies=2\n# scenario=\n# units=\n"
            "id,m,x,y,z,vx,vy,vz\n0,7,0.100000001,2,3,4,5,6\n1,1,1e-30,0,0,0,0,0\n"
            "# crc32=fc5c6b89\n");  // computed by Python's zlib.crc32
}

TEST_F(Csv, RefusesNumbersThatAreNone) {
  const std::string rule = "; every value must be a finite number";
  for (const char* field : {"nan", "-nan", "inf", "-Infinity", "abc", "", "1.0x", "1 2", "0x10",
                            "1e", "--1", "+-1", "1.0f", "\"1\"", "1;2"})
    EXPECT_EQ(row(std::string(field) + ",0,0,0,1"),
              "a.csv:3: x is \"" + std::string(field) + "\"" + rule);
  EXPECT_EQ(row("0,0,0,nan,1"), "a.csv:3: vy is \"nan\"" + rule);
  EXPECT_EQ(row("0,0,0,0,inf"), "a.csv:3: m is \"inf\"" + rule);
  EXPECT_EQ(row("0,0,0,0,-1e-9"), "a.csv:3: m is \"-1e-9\"; a mass must not be negative");
}

TEST_F(Csv, RefusesWhatFloat32DoesNotHold) {
  const std::string rule = "; a float32 holds 0 and 1.4e-45 to 3.4e+38";
  EXPECT_EQ(row("3.5e38,0,0,0,1"), "a.csv:3: x is \"3.5e38\"" + rule);
  EXPECT_EQ(row("-1e400,0,0,0,1"), "a.csv:3: x is \"-1e400\"" + rule);
  EXPECT_EQ(row("1e-50,0,0,0,1"), "a.csv:3: x is \"1e-50\"" + rule);
  EXPECT_EQ(row("3.4028234e38,1e-45,0,0,1"), "accepted");
}

TEST_F(Csv, RefusesRowsOfTheWrongLength) {
  EXPECT_EQ(row("0,0,0,0"), "a.csv:3: 4 values in a row; the header has 5 columns");
  EXPECT_EQ(row("0,0,0,0,1,"), "a.csv:3: 6 values in a row; the header has 5 columns");
  EXPECT_EQ(row("0 0 0 0 1"), "a.csv:3: 1 values in a row; the header has 5 columns");
}

TEST_F(Csv, RefusesUnknownSpecies) {
  EXPECT_EQ(refusal("species,x,y,vx,vy\ndark,0,0,0,0\nstars,0,0,0,0\n"),
            "a.csv:3: species is \"stars\"; known: gas, dark, disk, bulge, star, boundary");
}

TEST_F(Csv, CountsEveryLine) {
  EXPECT_EQ(refusal("# note\n\nx,y,vx,vy\r\n\n0,0,0,0\n# note\n0,0,0\n"),
            "a.csv:7: 3 values in a row; the header has 4 columns");
}

TEST_F(Csv, RefusesControlCharacters) {
  const std::string what = ": the line has a control character; lines end in LF or CRLF";
  EXPECT_EQ(refusal("x,y,vx,vy\r1,2,3,4\r"), "a.csv:1" + what);
  const std::string note = "# " + std::string(2000, '-') + "\n";  // longer than the examined head
  EXPECT_EQ(refusal(note + "name,x,y,vx,vy\n\x1b[2J,0,0,0,0\n"), "a.csv:3" + what);
}

TEST_F(Csv, RefusesNamesThatCouldNotBeWrittenAgain) {
  EXPECT_EQ(
      refusal("x,y,vx,vy,name\n0,0,0,0,#1\n"),
      "a.csv:2: the name \"#1\" cannot be written as CSV: commas, line ends, control characters, "
      "outer spaces and a leading # are not allowed");
  Snapshot snapshot{.systems = Systems(1, 1)};
  for (const char* name : {"a\x01", "\x7f", "\xff", "a,b", " a"}) {
    snapshot.names = {name};
    EXPECT_NE(refusal_of([&] { write_bodies(folder / "b.csv", snapshot); }), "accepted") << name;
  }
}

TEST_F(Csv, RefusesBadColumns) {
  EXPECT_EQ(refusal("x,y,vx,vy,temperature\n"),
            "a.csv:1: unknown column \"temperature\"; known: x, y, z, vx, vy, vz, m (or mass), "
            "name, species, id");
  EXPECT_EQ(refusal("1,2,3,4\n").find("a.csv:1: there is no header line with column names"), 0u);
  EXPECT_EQ(refusal("x,y,vx\n0,0,0\n"),
            "a.csv:1: column vy is missing; x, y, vx and vy are required");
  EXPECT_EQ(refusal("x,y,vx,vy,x\n"), "a.csv:1: column x is given twice");
  EXPECT_EQ(refusal("m,x,y,vx,vy,mass\n"), "a.csv:1: column mass is given twice");
  EXPECT_EQ(refusal("# only a note\n").find("a.csv: there is no header line"), 0u);
  EXPECT_EQ(refusal("x,y,vx,vy\n"), "a.csv holds no bodies");
}

TEST_F(Csv, RefusesBadKeys) {
  EXPECT_EQ(key("time=late"), "a.csv:1: time is \"late\"; it must be a finite number");
  EXPECT_EQ(key("dt=inf"), "a.csv:1: dt is \"inf\"; it must be a finite number");
  EXPECT_EQ(key("softening=-1"), "a.csv:1: the softening is negative");
  EXPECT_EQ(key("G=6.67e-11"), "a.csv:1: G is 6.67e-11; only units where G = 1 can be read");
  EXPECT_EQ(key("step=1.5"), "a.csv:1: step is \"1.5\"; it must be an integer of at least 0");
  EXPECT_EQ(key("step=-1"), "a.csv:1: step is \"-1\"; it must be an integer of at least 0");
  EXPECT_EQ(key("systems=0"), "a.csv:1: systems is \"0\"; it must be an integer of at least 1");
  EXPECT_EQ(key("systems=99999999999"),
            "a.csv:1: systems is \"99999999999\"; it must be an integer of at least 1");
  EXPECT_EQ(key("systems=3"),
            "a.csv holds 1 bodies, which cannot be divided into its 3 systems of equal size");
  EXPECT_EQ(key("integrator=rk4"), "a.csv:1: integrator is \"rk4\"; it must be euler or leapfrog");
  EXPECT_EQ(key("staggered=yes"), "a.csv:1: staggered is \"yes\"; it must be 0 or 1");
  EXPECT_EQ(key("units=" + std::string(32, 'u')),
            "a.csv:1: units is 32 bytes long; at most 31 can be kept");
  EXPECT_EQ(key("time=1\n# time=1"), "a.csv:2: time is given twice");
  EXPECT_EQ(key("colour=blue"), "accepted");
}

// If a file is cut between two lines, every remaining line is valid, so only the number of bodies
// shows that lines are missing. If it is cut within the last number, only the checksum shows it.
TEST_F(Csv, MissesNoByte) {
  Snapshot snapshot{.systems = Systems(1, 3)};
  snapshot.systems.bodies[2].vz = 1.5e-5f;
  write_bodies(folder / "whole.csv", snapshot);
  const std::string whole = folder.content("whole.csv");
  EXPECT_EQ(refusal(whole), "accepted");
  for (std::size_t end = 0; end + 1 < whole.size(); ++end)
    EXPECT_NE(refusal(whole.substr(0, end)), "accepted") << whole.substr(0, end);
  const std::string cut = whole.substr(0, whole.find("# crc32"));
  EXPECT_EQ(refusal(cut),
            "a.csv: damaged: the line with the checksum is missing at its end (if you removed it, "
            "also remove the one with bodies=)");
}

TEST_F(Csv, MissesNoLine) {
  Snapshot snapshot{.systems = Systems(1, 3)};
  snapshot.checkpoint = {{"seed", "7"}};
  write_bodies(folder / "whole.csv", snapshot);
  const std::string whole = folder.content("whole.csv");
  EXPECT_EQ(read(whole).checkpoint, snapshot.checkpoint);
  for (std::size_t end = whole.find('\n'); end + 1 < whole.size(); end = whole.find('\n', end + 1))
    EXPECT_NE(refusal(whole.substr(0, end + 1)), "accepted") << whole.substr(0, end + 1);
  const auto rows = whole.find("0,0,0,0,0,0,0,0\n");
  EXPECT_EQ(refusal(whole.substr(0, rows + 16)), "a.csv: damaged: it has 1 bodies instead of 3");
  std::string changed = whole;
  changed[rows + 2] = '4';
  EXPECT_EQ(refusal(changed).find("a.csv:17: the checksum does not match the lines above"), 0u)
      << refusal(changed);
  EXPECT_EQ(refusal(whole + "# more\n"), "a.csv:18: nothing may follow the line with the checksum");
  // Trailing blanks and CRLF must not be reported as damage.
  std::string windows;
  for (const char c : whole) windows += c == '\n' ? std::string(" \r\n") : std::string(1, c);
  EXPECT_EQ(refusal(windows), "accepted");
}

}  // namespace
}  // namespace nbody
