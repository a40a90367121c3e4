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
  // Starts the step. The step's output and errors go to files in the directory.
  StepProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
              const std::filesystem::path& folder);
  // Ends the process, by force if necessary.
  ~StepProcess();
  StepProcess(const StepProcess&) = delete;
  StepProcess& operator=(const StepProcess&) = delete;

  // Returns the address that a step with --view prints. Returns nothing if the step ends first, if
  // the time is over, or if `given_up` returns true.
  std::optional<std::string> wait_for_address(std::chrono::seconds at_most,
                                              const std::function<bool()>& given_up);
  // Interrupts the step as Ctrl-C does.
  void interrupt();
  bool wait_for_end(std::chrono::seconds at_most);
  // Returns a message about how the step ended; "" for exit code 0.
  std::string failure() const;

 private:
  bool has_ended();

  std::filesystem::path output_, errors_;
  pid_t process_ = -1;
  std::optional<int> status_;
};

}  // namespace nbody::view
