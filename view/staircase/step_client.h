// A viewer of a running step, as a browser is: takes its messages and its frames, and sends it
// commands. Everything it calls back is called on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace nbody::view {

class StepClient {
 public:
  struct Handlers {
    std::function<void(std::string)> text, frame;
    std::function<void()> lost;  // the step has ended, or its connection
  };

  // The address is what the step prints. Throws std::runtime_error where nobody answers.
  StepClient(const std::string& address, Handlers handlers);
  ~StepClient();

  void send(std::string message);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nbody::view
