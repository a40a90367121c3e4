// Facts about each step of the series: where it computes, how fast, and its energy error.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages.h"
#include "nbody/stopwatch.h"

namespace nbody::view {

class StairTable {
 public:
  explicit StairTable(const std::vector<std::filesystem::path>& programs);

  void starts(std::size_t stair);
  // Records that the running step ended. `failure` says why, or is empty if the end was requested.
  void ends(const std::string& failure);

  // Reads a message from a step. Returns the kind of the message if it is also for viewers.
  std::optional<Text> take_text(std::string_view text);
  // Returns true when it is time to show the table again.
  bool take_frame(std::string_view frame);

  // Returns commands that give the next step the speed of the last step, and that pause the next
  // step if the last step was paused.
  std::vector<Command> commands_to_go_on() const;

  std::string message() const;

 private:
  struct Row {
    std::string name, backend;
    bool approximates = false;
    std::deque<double> rates;  // rates of the last frames
    std::string energy;        // JSON, as the step sends it; "": not known yet
  };
  std::vector<Row> rows_;
  std::optional<std::size_t> running_;
  bool starting_ = false;
  std::string failure_;
  std::optional<Command> speed_;
  bool paused_ = false;
  Stopwatch shown_;
};

}  // namespace nbody::view
