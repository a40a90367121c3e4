// A viewer of a running step, like a browser: receives the messages and frames of the step, and
// sends commands to it. All callbacks run on the client's own thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace nbody::view {

class StepClient {
 public:
  struct Handlers {
    std::function<void(std::string)> text, frame;
    std::function<void()> lost;  // the step or its connection has ended
  };

  // `address` is the one that the step prints. Throws std::runtime_error if the step does not
  // answer.
  StepClient(const std::string& address, Handlers handlers);
  ~StepClient();

  void send(std::string message);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nbody::view
