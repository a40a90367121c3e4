// A file is whole or absent, and nothing else is left behind.
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
#include "nbody/error.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

const auto write_new = [](std::ostream& out) { out << "new"; };

std::string refusal(const std::filesystem::path& file) {
  std::string messages[2] = {"accepted", "accepted"};
  try {
    require_writable(file);
  } catch (const UsageError& error) {
    messages[0] = error.what();
  }
  try {
    write_whole_file(file, write_new);
  } catch (const UsageError& error) {
    messages[1] = error.what();
  }
  // What is asked before a long run must be what happens after it.
  EXPECT_EQ(messages[0], messages[1]);
  return messages[0];
}

TEST(WriteWholeFile, CreatesAndReplaces) {
  const TemporaryFolder folder;
  write_whole_file(folder / "a", write_new);
  EXPECT_EQ(folder.content("a"), "new");
  folder.with("a", "something older and longer");
  write_whole_file(folder / "a", write_new);
  EXPECT_EQ(folder.content("a"), "new");
  EXPECT_EQ(folder.files(), 1);
}

TEST(WriteWholeFile, TakesTheLongestName) {
  const TemporaryFolder folder;
  const std::string name(255, 'a');
  write_whole_file(folder / name, write_new);
  EXPECT_EQ(folder.content(name), "new");
}

TEST(WriteWholeFile, AnExceptionLeavesTheOldFile) {
  const TemporaryFolder folder;
  folder.with("a", "old");
  EXPECT_THROW(write_whole_file(folder / "a",
                                [](std::ostream& out) {
                                  out << "half";
                                  throw std::runtime_error("stop");
                                }),
               std::runtime_error);
  EXPECT_EQ(folder.content("a"), "old");
  EXPECT_EQ(folder.files(), 1);
}

TEST(WriteWholeFile, AFailedStreamLeavesTheOldFile) {
  const TemporaryFolder folder;
  folder.with("a", "old");
  EXPECT_THROW(write_whole_file(folder / "a",
                                [](std::ostream& out) {
                                  out << "half";
                                  out.setstate(std::ios::badbit);
                                }),
               std::runtime_error);
  EXPECT_EQ(folder.content("a"), "old");
  EXPECT_EQ(folder.files(), 1);
}

// A limit on the size of files fails a write as a full disk does.
TEST(WriteWholeFile, AFullDiskIsARuntimeError) {
  const TemporaryFolder folder;
  folder.with("a", "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message = "written";
  bool usage_error = false;
  try {
    // Small enough for the buffer of the stream: only flush and close can tell.
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
  EXPECT_EQ(folder.content("a"), "old");
  EXPECT_EQ(folder.files(), 1);
}

TEST(WriteWholeFile, ADeviceIsWrittenInPlace) {
  write_whole_file("/dev/null", write_new);
  struct stat status {};
  ASSERT_EQ(stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_THROW(write_whole_file("/dev/full", write_new), std::runtime_error);
}

TEST(WriteWholeFile, APipeIsWrittenInPlace) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_whole_file(folder / "pipe", write_new);
  char bytes[8] = {};
  EXPECT_EQ(read(reader, bytes, sizeof(bytes)), 3);
  EXPECT_STREQ(bytes, "new");
  close(reader);
}

TEST(WriteWholeFile, ASymbolicLinkStaysOne) {
  const TemporaryFolder folder;
  folder.with("target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  write_whole_file(folder / "link", write_new);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(folder.content("target"), "new");
}

TEST(WriteWholeFile, RefusesWhatCannotBe) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  EXPECT_EQ(refusal(folder / "none/a"),
            "cannot write " + path + "/none/a: there is no folder " + path + "/none");
  EXPECT_EQ(refusal(folder.path()), "cannot write " + path + ": it is a folder");
  EXPECT_EQ(refusal(path + "/"), "cannot write " + path + "/: it is a folder");
  EXPECT_EQ(refusal(""), "the name of the file to write is empty");
  EXPECT_EQ(refusal(folder.with("file", "") / "a"),
            "cannot write " + path + "/file/a: there is no folder " + path + "/file");
  EXPECT_EQ(folder.files(), 1);
  if (geteuid() == 0) return;  // root writes everywhere
  chmod(folder.path().c_str(), 0500);
  EXPECT_EQ(refusal(folder / "a"), "cannot write " + path + "/a: Permission denied");
  chmod(folder.path().c_str(), 0700);
}

TEST(RequireWritable, LeavesNothingBehind) {
  const TemporaryFolder folder;
  require_writable(folder / "a");
  EXPECT_EQ(folder.files(), 0);
  folder.with("a", "old");
  require_writable(folder / "a");
  EXPECT_EQ(folder.content("a"), "old");
  EXPECT_EQ(folder.files(), 1);
}

TEST(RequireWritable, RemovesWhatKilledWritersLeft) {
  const TemporaryFolder folder;
  folder.with(".nbody-1-0.tmp", "half");
  folder.with("mine.tmp", "kept");
  require_writable(folder / "a");
  EXPECT_EQ(folder.files(), 1);
  EXPECT_EQ(folder.content("mine.tmp"), "kept");
}

TEST(RequireWritable, LeavesTheFileOfALivingWriter) {
  const TemporaryFolder folder;
  write_whole_file(folder / "a", [&](std::ostream& out) {
    require_writable(folder / "b");
    write_new(out);
  });
  EXPECT_EQ(folder.content("a"), "new");
  EXPECT_EQ(folder.files(), 1);
}

// In a container the first process has the same number every time.
TEST(WriteWholeFile, PassesOverTheNamesThatAKilledProcessOfItsNumberTook) {
  const TemporaryFolder folder;
  for (int k = 0; k < 200; ++k)
    folder.with(".nbody-" + std::to_string(getpid()) + "-" + std::to_string(k) + ".tmp", "half");
  write_whole_file(folder / "a", write_new);
  EXPECT_EQ(folder.content("a"), "new");
}

}  // namespace
}  // namespace nbody
