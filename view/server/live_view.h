// A run seen in a browser while it goes on: a page and a WebSocket on 127.0.0.1, and nowhere else.
// docs/view.md describes both for whoever looks, and for whoever writes another client.
#pragma once

#include <iosfwd>
#include <memory>

#include "nbody/device.h"
#include "nbody/step.h"
#include "run/job.h"
#include "run/simulation.h"

namespace nbody {

class LiveView : public StepScheduler {
 public:
  // Listens from here on. Port 0 is any free one. Throws UsageError when the port cannot be had.
  LiveView(int port, const StepInfo& info, const Platform& platform, const Job& job);
  ~LiveView() override;

  // The address to open, and the line that brings the port to another machine.
  void print_address(std::ostream& out) const;

  // Shows the state; returns as soon as the next steps may be taken. Waits for somebody to look
  // before the first ones, while paused, and for as long as the last frame has to be seen.
  int next_piece(const Simulation& simulation) override;

  // Did somebody end the program (Ctrl-C) before the run was over?
  bool stopped() const;

  // Goes on showing the last state until somebody ends the program.
  void hold(std::ostream& out);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nbody
