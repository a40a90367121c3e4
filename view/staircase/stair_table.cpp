#include "stair_table.h"

#include <nlohmann/json.hpp>

#include "frame.h"
#include "meter.h"

namespace nbody::view {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxRates = 600;        // frames of about ten seconds
constexpr double kSecondsBetweenShows = 0.3;  // long enough to read the numbers

}  // namespace

StairTable::StairTable(const std::vector<std::filesystem::path>& programs) {
  for (const auto& program : programs) {
    rows_.emplace_back();
    rows_.back().name = program.filename().string();
  }
}

void StairTable::starts(std::size_t stair) {
  running_ = stair;
  starting_ = true;
  failure_.clear();
  rows_[stair].rates.clear();
  rows_[stair].energy.clear();
}

void StairTable::ends(const std::string& failure) {
  if (running_ && !failure.empty()) failure_ = rows_[*running_].name + " " + failure;
  running_.reset();
}

std::optional<Text> StairTable::take_text(std::string_view text) {
  const json message = json::parse(text);
  const std::string type = message.value("type", "");
  if (type != "info" && type != "status") return std::nullopt;
  const Text kind = type == "info" ? Text::info : Text::status;
  if (!running_) return kind;
  Row& row = rows_[*running_];
  if (kind == Text::info) {
    row.backend = message["backend"];
    row.approximates = message["approximates"];
    starting_ = false;
  } else {
    row.energy = message["energy"].is_null() ? "" : message["energy"].dump();
    paused_ = message["paused"];
    speed_ = Command{Command::Type::speed};
    speed_->steps_per_frame = message["steps_per_frame"];
  }
  return kind;
}

bool StairTable::take_frame(std::string_view frame) {
  if (!running_) return false;
  const double rate = interactions_per_second(frame);
  if (rate > 0) rows_[*running_].rates.push_back(rate);
  if (rows_[*running_].rates.size() > kMaxRates) rows_[*running_].rates.pop_front();
  if (shown_.seconds() < kSecondsBetweenShows) return false;
  shown_ = Stopwatch();
  return true;
}

std::vector<Command> StairTable::commands_to_go_on() const {
  std::vector<Command> commands;
  if (speed_) commands.push_back(*speed_);
  if (paused_) commands.push_back({Command::Type::pause});
  return commands;
}

std::string StairTable::message() const {
  json steps = json::array();
  for (const Row& row : rows_)
    steps.push_back(
        {{"name", row.name},
         {"backend", row.backend},
         {"approximates", row.approximates},
         {"interactions_per_second",
          row.rates.empty() ? json() : json(median({row.rates.begin(), row.rates.end()}))},
         {"energy", row.energy.empty() ? json() : json::parse(std::string_view(row.energy))}});
  return json{{"type", "stairs"},
              {"steps", steps},
              {"running", running_ ? json(*running_) : json()},
              {"starting", starting_ && running_},
              {"failure", failure_}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace nbody::view
