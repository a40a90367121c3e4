// A step as a separate process, with its output in files.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nbody::view {

class StepProcess {
 public:
  // Writes its output and its errors to files in the directory.
  StepProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
              const std::filesystem::path& folder);
  // Ends it, by force if necessary.
  ~StepProcess();
  StepProcess(const StepProcess&) = delete;
  StepProcess& operator=(const StepProcess&) = delete;

  // The address that a step with --view prints; empty if it has ended, takes longer, or the wait
  // was cancelled.
  std::optional<std::string> wait_for_address(std::chrono::seconds at_most,
                                              const std::function<bool()>& given_up);
  // As Ctrl-C does.
  void interrupt();
  bool wait_for_end(std::chrono::seconds at_most);
  // A message about how it ended: "" for exit code 0.
  std::string failure() const;

 private:
  bool has_ended();

  std::filesystem::path output_, errors_;
  pid_t process_ = -1;
  std::optional<int> status_;
};

}  // namespace nbody::view
