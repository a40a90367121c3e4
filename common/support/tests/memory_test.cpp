// Tests memory limits in every place where a control group may set them.
#include "support/memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "temporary_folder.h"

namespace nbody::test {
namespace {

class ControlGroup : public WithFolder {
 protected:
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text << '\n';
  }
  std::uint64_t limit(const std::string& groups) const {
    put("groups", groups);
    return control_group_limit(folder / "groups", folder.path());
  }
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
};

TEST_F(ControlGroup, OfVersion2LimitsAllThatAreNestedInIt) {
  put("memory.max", "max");
  EXPECT_EQ(limit("0::/"), kNone);
  put("a.slice/memory.max", "5000");
  put("a.slice/b.scope/memory.max", "7000");
  EXPECT_EQ(limit("0::/a.slice/b.scope"), 5000u);
  put("a.slice/b.scope/memory.max", "3000");
  EXPECT_EQ(limit("0::/a.slice/b.scope"), 3000u);
  EXPECT_EQ(limit("0::/a.slice"), 5000u);
  EXPECT_EQ(limit("0::/c.slice"), kNone);
}

TEST_F(ControlGroup, OfVersion1IsThatOfMemory) {
  put("memory/job/memory.limit_in_bytes", "4000");
  put("cpu/job/memory.limit_in_bytes", "1");
  EXPECT_EQ(limit("3:cpu,cpuacct:/job\n2:memory:/job/step\n0::/"), 4000u);
  EXPECT_EQ(limit("3:cpu,cpuacct:/job\n2:memory:/other"), kNone);
}

TEST_F(ControlGroup, OfAContainerIsTheRoot) {
  put("memory.max", "6000");
  EXPECT_EQ(limit("0::/as/it/is/called/outside"), 6000u);
  EXPECT_EQ(control_group_limit(folder / "none", folder.path()), 6000u);
}

}  // namespace
}  // namespace nbody::test
