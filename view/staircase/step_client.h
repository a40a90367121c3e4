// A viewer of a running step, like a browser: receives its messages and frames, and sends it
// commands. All callbacks run on the client's own thread.
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

  // `address` is the address that the step prints. Throws std::runtime_error if nothing answers.
  StepClient(const std::string& address, Handlers handlers);
  ~StepClient();

  void send(std::string message);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nbody::view
