// Shows a run in a browser while it is computed: a page and a WebSocket, on 127.0.0.1 only.
// docs/view.md describes both, for users and for authors of other clients.
#pragma once

#include <iosfwd>
#include <memory>

#include "nbody/step.h"
#include "run/job.h"
#include "run/run_view.h"
#include "support/platform.h"

namespace nbody {

class LiveView : public RunView {
 public:
  // Starts to listen. Port 0 means any free port. Throws UsageError if the port cannot be used.
  LiveView(int port, const StepInfo& info, const Platform& platform, const Job& job,
           bool may_change_forces);
  ~LiveView() override;

  // Prints the address to open, and the ssh command that forwards the port to another machine.
  void print_address(std::ostream& out) const override;

  // Shows the state, and returns as soon as the next steps may be taken. Waits for a viewer before
  // the first steps. Later, waits while the run is paused, and until the last frame has been shown
  // for long enough. If viewers have requested another dt or softening, gives it to the simulation.
  int next_piece(Simulation& simulation) override;

  // True if the program was interrupted (Ctrl-C) before the run was over.
  bool stopped() const;

  // Shows the last state until the program is interrupted.
  void hold(std::ostream& out) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nbody
