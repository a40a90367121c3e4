// Checks that a file is whole or absent, and that nothing else is left behind.
#include "io/write_whole_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <ostream>
#include <string>

#include "io/snapshot_file.h"
#include "support/tests/said.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

struct WriteWholeFile : WithFolder {
  void expect_the_old_file() const {
    EXPECT_EQ(folder.content("a"), "old");
    EXPECT_EQ(folder.files(), 1);
  }
};
struct RequireWritable : WithFolder {};

const auto write_new = [](std::ostream& out) { out << "new"; };

std::string refusal(const std::filesystem::path& file) {
  std::string message = refusal_of([&] { require_writable(file); });
  // require_writable(), called before a long run, must agree with the write after the run.
  EXPECT_EQ(message, refusal_of([&] { write_whole_file(file, write_new); }));
  return message;
}

TEST_F(WriteWholeFile, CreatesAndReplaces) {
  write_whole_file(folder / "a", write_new);
  EXPECT_EQ(folder.content("a"), "new");
  folder.with("a", "something older and longer");
  write_whole_file(folder / "a", write_new);
  EXPECT_EQ(folder.content("a"), "new");
  EXPECT_EQ(folder.files(), 1);
}

TEST_F(WriteWholeFile, TakesTheLongestName) {
  const std::string name(255, 'a');
  write_whole_file(folder / name, write_new);
  EXPECT_EQ(folder.content(name), "new");
}

TEST_F(WriteWholeFile, AnExceptionLeavesTheOldFile) {
  folder.with("a", "old");
  const auto write = [](std::ostream& out) {
    out << "half";
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(write_whole_file(folder / "a", write), std::runtime_error);
  expect_the_old_file();
}

TEST_F(WriteWholeFile, AFailedStreamLeavesTheOldFile) {
  folder.with("a", "old");
  const auto write = [](std::ostream& out) {
    out << "half";
    out.setstate(std::ios::badbit);
  };
  EXPECT_THROW(write_whole_file(folder / "a", write), std::runtime_error);
  expect_the_old_file();
}

// A limit on the size of files makes a write fail in the same way as a full disk.
TEST_F(WriteWholeFile, AFullDiskIsARuntimeError) {
  folder.with("a", "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message = "written";
  bool usage_error = false;
  try {
    // The text fits the stream's buffer, so only flush and close can fail.
    write_whole_file(folder / "a", [](std::ostream& out) { out << std::string(2000, 'x'); });
  } catch (const UsageError& error) {
    usage_error = true;
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(usage_error);
  EXPECT_EQ(message, "cannot write " + (folder / "a").string() + ": File too large");
  expect_the_old_file();
}

TEST_F(WriteWholeFile, ADeviceIsWrittenInPlace) {
  write_whole_file("/dev/null", write_new);
  struct stat status {};
  ASSERT_EQ(stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_THROW(write_whole_file("/dev/full", write_new), std::runtime_error);
}

TEST_F(WriteWholeFile, APipeIsWrittenInPlace) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_whole_file(folder / "pipe", write_new);
  char bytes[8] = {};
  EXPECT_EQ(read(reader, bytes, sizeof(bytes)), 3);
  EXPECT_STREQ(bytes, "new");
  close(reader);
}

TEST_F(WriteWholeFile, ASymbolicLinkStaysOne) {
  folder.with("target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  write_whole_file(folder / "link", write_new);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(folder.content("target"), "new");
}

TEST_F(WriteWholeFile, ALinkWithoutATargetGetsOne) {
  std::filesystem::create_symlink("later", folder / "second");
  std::filesystem::create_symlink(folder / "second", folder / "first");
  write_whole_file(folder / "first", write_new);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_EQ(folder.content("later"), "new");
  std::filesystem::create_symlink("round", folder / "round");
  EXPECT_THROW(write_whole_file(folder / "round", write_new), UsageError);
}

TEST_F(WriteWholeFile, AReplacedFileKeepsItsMode) {
  folder.with("a", "old");
  for (const mode_t mode : {0600u, 0640u, 0666u}) {
    chmod((folder / "a").c_str(), mode);
    write_whole_file(folder / "a", write_new);
    struct stat status {};
    ASSERT_EQ(stat((folder / "a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode);
  }
}

TEST_F(WriteWholeFile, RefusesWhatCannotBe) {
  const std::string path = folder.path().string();
  EXPECT_EQ(refusal(folder / "none/a"),
            "cannot write " + path + "/none/a: there is no folder " + path + "/none");
  EXPECT_EQ(refusal(folder.path()), "cannot write " + path + ": it is a folder");
  EXPECT_EQ(refusal(path + "/"), "cannot write " + path + "/: it is a folder");
  EXPECT_EQ(refusal(""), "the name of the file to write is empty");
  EXPECT_EQ(refusal(folder.with("file", "") / "a"),
            "cannot write " + path + "/file/a: there is no folder " + path + "/file");
  EXPECT_EQ(folder.files(), 1);
  const std::string long_name(256, 'a');
  EXPECT_EQ(refusal(folder / long_name),
            "cannot write " + path + "/" + long_name + ": File name too long");
  if (geteuid() == 0) return;  // root can write everywhere
  chmod(folder.path().c_str(), 0500);
  EXPECT_EQ(refusal(folder / "a"), "cannot write " + path + "/a: Permission denied");
  chmod(folder.path().c_str(), 0700);
}

TEST_F(RequireWritable, LeavesNothingBehind) {
  require_writable(folder / "a");
  EXPECT_EQ(folder.files(), 0);
  folder.with("a", "old");
  require_writable(folder / "a");
  EXPECT_EQ(folder.content("a"), "old");
  EXPECT_EQ(folder.files(), 1);
}

TEST_F(RequireWritable, RemovesWhatKilledWritersLeft) {
  folder.with(".nbody-1-0.tmp", "half");
  folder.with("mine.tmp", "kept");
  require_writable(folder / "a");
  EXPECT_EQ(folder.files(), 1);
  EXPECT_EQ(folder.content("mine.tmp"), "kept");
}

TEST_F(RequireWritable, LeavesTheFileOfALivingWriter) {
  write_whole_file(folder / "a", [&](std::ostream& out) {
    require_writable(folder / "b");
    write_new(out);
  });
  EXPECT_EQ(folder.content("a"), "new");
  EXPECT_EQ(folder.files(), 1);
}

// In a container the first process always has the same process number. A killed process may
// therefore have left files whose names contain the number of this process.
TEST_F(WriteWholeFile, PassesOverTheNamesThatAKilledProcessOfItsNumberTook) {
  for (int k = 0; k < 200; ++k)
    folder.with(".nbody-" + std::to_string(getpid()) + "-" + std::to_string(k) + ".tmp", "half");
  write_whole_file(folder / "a", write_new);
  EXPECT_EQ(folder.content("a"), "new");
}

// --- several outputs ---

class OutputsTest : public WithFolder {
 protected:
  // Returns the error message for these outputs, without the directory.
  std::string refusal(const std::vector<NamedFile>& outputs,
                      const std::vector<NamedFile>& inputs = {}) {
    std::string text = refusal_of([&] { const Outputs checked(outputs, inputs); });
    const std::string path = folder / "";
    for (auto at = text.find(path); at != text.npos; at = text.find(path))
      text.erase(at, path.size());
    return text;
  }
};

TEST_F(OutputsTest, AreComparedByFileAndNotByName) {
  std::filesystem::create_directory(folder / "sub");
  folder.with("a", "old");
  std::filesystem::create_symlink(folder / "a", folder / "link");
  std::filesystem::create_symlink(folder / "absent", folder / "later");
  std::filesystem::create_directory_symlink(folder.path(), folder / "sub/up");
  std::filesystem::create_hard_link(folder / "a", folder / "hard");
  for (const char* same : {"a", "./a", "sub/../a", "sub/up/a", "link", "hard"}) {
    EXPECT_EQ(refusal({{"OUT", folder / same}}, {{"IN", folder / "a"}}),
              "OUT: \"" + std::string(same) + "\" is not allowed; IN is the same file");
    EXPECT_NE(refusal({{"one", folder / "a"}, {"two", folder / same}}), "accepted") << same;
  }
  for (const char* same : {"absent", "./absent", "sub/up/absent", "later"})
    EXPECT_NE(refusal({{"one", folder / "absent"}, {"two", folder / same}}), "accepted") << same;
  EXPECT_EQ(refusal({{"one", folder / "b"}, {"two", folder / "sub/b"}}, {{"IN", folder / "a"}}),
            "accepted");
  EXPECT_EQ(refusal({{"one", "/dev/null"}, {"two", "/dev/null"}}), "accepted");
  EXPECT_EQ(folder.content("a"), "old");
}

TEST_F(OutputsTest, HaveOneWriter) {
  {
    const Outputs first({{"OUT", folder / "a"}, {"other", folder / "b"}}, {});
    EXPECT_EQ(refusal({{"OUT", folder / "./a"}}),
              "cannot write ./a: another program is writing it now");
    EXPECT_EQ(refusal({{"OUT", folder / "c"}}), "accepted");
    require_writable(folder / "c");  // this call removes the files of killed programs
    EXPECT_NE(refusal({{"OUT", folder / "b"}}), "accepted");
  }
  EXPECT_EQ(refusal({{"OUT", folder / "a"}}), "accepted");
  EXPECT_EQ(folder.files(), 0);
}

}  // namespace
}  // namespace nbody
