// The text messages between page and program, in JSON: everything except frames.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/snapshot_file.h"
#include "thinning.h"

namespace nbody::view {

// A command from page to program, for example {"type": "next"}. Three types have more fields:
// "speed" has "steps_per_frame", "forces" has "dt" and "softening", and "stair" has "stair".
struct Command {
  enum class Type {
    next,   // send one more frame, once there is a newer one
    pause,  // take no further time steps
    resume,
    step,    // while paused: take the steps of one frame
    speed,   // take at most this many steps per frame; 0: as many as the frame's time allows
    forces,  // continue with another dt and softening
    stair    // series of steps: switch to the program with this number
  };
  Type type;
  int steps_per_frame = 0;
  double dt = 0, softening = 0;
  std::size_t stair = 0;
};
inline constexpr int kMaxStepsPerFrame = 1'000'000;

// The message is JSON but not a valid command: the sender gets an error and may continue.
struct UnknownCommand : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The message is not JSON: the connection is closed.
struct MalformedMessage : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Parses a command. Throws UnknownCommand or MalformedMessage.
Command parse_command(std::string_view text);
// The inverse of parse_command.
std::string command_message(const Command& command);

// The kinds of messages from program to page, in the order in which they are sent. Only the newest
// message of each kind is sent.
enum class Text { info, stairs, status };
inline constexpr int kTexts = 3;

std::string error_message(std::string_view what);

// Sent from program to page once, together with a description of the initial state.
struct Info {
  std::string program;
  std::string device;
  std::string backend;  // "cuda", "hostcuda", "cpu"; "" for files
  bool may_change_forces = false;
  bool approximates = false;           // true for a tree; interactions count as in a direct sum
  std::optional<long long> last_step;  // none: the run continues until interrupted
  std::string no_energy;               // why the energy is not known; "" if it is or will be known
};
std::string info_message(const Info& info, const Snapshot& snapshot, const Thinning& thinning);

// Sent from program to page whenever the status changes.
struct Status {
  bool paused = false;
  bool finished = false;
  int steps_per_frame = 0;
  double dt = 0;  // current value
  double softening = 0;
  struct Energy {
    double error;  // (E - E_start) / |E_start|
    double since;  // the time of E_start: the start, or the last change of the forces
    double time;   // time of the state that the error was computed from
    // If the potential was estimated from a sample of the bodies, its relative standard error; 0 if
    // all pairs were summed.
    double uncertainty;
  };
  std::optional<Energy> energy;
};
std::string status_message(const Status& status);

}  // namespace nbody::view
