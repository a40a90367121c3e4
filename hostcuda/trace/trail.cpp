#include "trail.h"

#include <algorithm>

namespace hostcuda::trace {
namespace {

constexpr unsigned kPatience = 8;

}  // namespace

void Trail::enter(unsigned thread, std::uint32_t epoch, WarpLog& log) {
  if (epoch_ == epoch && here_.thread == thread) return;
  leave();
  const std::uint32_t lane = 1u << thread % kLanes;
  if (epoch_ == epoch && !(lanes_ & lane)) {
    if (is_led_) close();
    lanes_ |= lane;
    here_ = {steps_.data(), steps_.data(), thread};
    patience_ = kPatience;
    return;
  }
  end();
  begin_ = log.size_of(thread % kLanes);
  if (begin_ > LoggedAccess::kLastBegin) return;
  epoch_ = epoch;
  log_ = &log;
  lanes_ = lane;
  leader_ = thread % kLanes;
  is_led_ = true;
  here_.thread = thread;
}

void Trail::log_followed() {
  const auto at = [&](const Step* step) {
    return begin_ + static_cast<std::size_t>(step - steps_.data());
  };
  log_->add_run(here_.thread % kLanes, {leader_, at(here_.first), at(here_.next)});
  here_.first = here_.next;
}

bool Trail::find_near(const void* address, const void* code) {
  constexpr std::ptrdiff_t kNear = 32;
  const auto at = here_.next - steps_.data();
  const auto end = static_cast<std::ptrdiff_t>(steps_.size());
  const auto is_it = [&](const Step& step) { return step.code == code && step.address == address; };
  const Step* const last = steps_.data() + std::min(at + kNear, end);
  const Step* const first = steps_.data();
  const Step* found = std::find_if(here_.next, last, is_it);
  if (found == last)
    found = std::find_if(first + std::max(at - kNear, std::ptrdiff_t{0}), here_.next, is_it);
  const bool is_found = found != last && found != here_.next;
  patience_ = is_found ? kPatience : patience_ - 1;
  if (!is_found) return false;
  leave();
  here_.next = here_.first = found;
  return true;
}

void Trail::end() {
  leave();
  follow_nothing();
  steps_.clear();
  written_.clear();
  is_led_ = false;
  epoch_ = 0;
}

// Removes the loads of words that the leading thread wrote after it had read them, because these
// loads were valid only for the leading thread.
void Trail::close() {
  is_led_ = false;
  if (!written_.empty()) {
    std::sort(written_.begin(), written_.end());
    for (Step& step : steps_) {
      if (!step.address || step.cells > written_.back()) continue;
      const auto next = std::lower_bound(written_.begin(), written_.end(), step.cells);
      if (*next < step.cells + kMaxAccess / kWordBytes) step.address = nullptr;
    }
  }
  steps_.push_back(kNone);
}

void Trail::writes_what_was_read(const Cell& cell) {
  const bool by_another = cell.reads[0].thread != here_.thread || cell.reads[1].epoch == epoch_;
  if (!is_led_) {
    if (by_another) end();
    return;
  }
  if (written_.empty() || written_.back() != &cell) written_.push_back(&cell);
  constexpr std::size_t kFew = 64;
  if (written_.size() < std::max(kFew, written_limit_)) return;
  std::sort(written_.begin(), written_.end());
  written_.erase(std::unique(written_.begin(), written_.end()), written_.end());
  written_limit_ = 2 * written_.size();
}

}  // namespace hostcuda::trace
