// The threads of a warp run one after another here, and mostly
// do the same. The first one records a trail of its valid
// loads. A later thread that makes the same load at the same
// place in the code is not checked again. A trail is valid
// until the next barrier, and for a word until something writes
// to it.
#ifndef HOSTCUDA_TRACE_TRAIL_H
#define HOSTCUDA_TRACE_TRAIL_H

#include <cstdint>
#include <vector>

#include "counts/warp_log.h"
#include "execution/block.h"
#include "races/races.h"

namespace hostcuda::trace {

class Trail {
  struct Step {
    const void* code;     // null: the end
    const char* address;  // null: not to be followed
    Cell* cells;          // cells of the words that the step loads
    Access read;          // the leading thread's access
  };
  static constexpr Step kNone{nullptr, nullptr, nullptr, {}};
  // One per host thread: threads that run host code follow nothing.
  struct Position {
    const Step* next;   // next step to follow
    const Step* first;  // first step that was followed but not logged yet
    unsigned thread;
  };

 public:
  // The thread with this number continues, or its epoch changed: it follows a trail or records one.
  // `log` is the log of its warp.
  void enter(unsigned thread, std::uint32_t epoch, WarpLog& log);
  // Logs the followed part when another thread continues or this one makes an access to be checked.
  [[gnu::always_inline]] void leave() {
    if (here_.next != here_.first) log_followed();
  }
  // From now on no thread follows the trail.
  void end();

  // Returns whether the running thread follows the trail with this load of this many whole words.
  [[gnu::always_inline]] static bool follow(const void* address, unsigned words, const void* code) {
    const Step* step = here_.next;
    if (step->code != code || step->address != address ||
        running_block->current_number() != here_.thread)
      return false;
    here_.next = step + 1;
    Access read = step->read;
    read.thread = here_.thread;
    for (unsigned i = 0; i < words; ++i) Races::read_again(step->cells[i], read);
    return true;
  }

  // Called if the thread does not. Returns true if it only skipped or added a few steps and can
  // continue from here.
  bool catch_up(const void* address, const void* code) {
    return patience_ && here_.next != &kNone && find_near(address, code);
  }

  bool is_led() const { return is_led_; }
  // Adds the access just logged, by the code at `code`: the leading thread's, or that of a thread
  // that deviates for one step.
  [[gnu::always_inline]] void pass(const void* code) {
    if (is_led_)
      add({code, nullptr, nullptr, {}});
    else if (here_.next->code == code)
      here_.first = ++here_.next;
  }
  // Adds a load by the leading thread that others may follow.
  [[gnu::noinline]] void add_load(const void* code, const char* address, Cell* cells,
                                  const Access& read) {
    add({code, address, cells, read});
  }
  // The last logged access turned out to be such a load.
  void last_is_load(const char* address, Cell* cells) {
    if (steps_.size() == LoggedAccess::kLongestRun) return;  // it may not be the last step
    steps_.back().address = address;
    steps_.back().cells = cells;
    steps_.back().read = cells->reads[0];
  }
  // The running thread is about to write a word.
  void writes(const Cell& cell) {
    if (epoch_ && cell.reads[0].epoch == epoch_) writes_what_was_read(cell);
  }

 private:
  static constinit inline thread_local Position here_{&kNone, &kNone, 0};

  void add(const Step& step) {
    if (steps_.size() < LoggedAccess::kLongestRun) steps_.push_back(step);
  }
  void follow_nothing() { here_.next = here_.first = &kNone; }
  void log_followed();
  void close();
  bool find_near(const void* address, const void* code);
  void writes_what_was_read(const Cell& cell);

  std::vector<Step> steps_;  // in the order of the leader's log, from its entry `begin_` on
  std::size_t begin_ = 0;
  unsigned leader_ = 0;  // lane of the leading thread
  WarpLog* log_ = nullptr;
  std::uint32_t epoch_ = 0;           // 0: there is no trail
  std::uint32_t lanes_ = 0;           // threads that led or followed
  bool is_led_ = false;               // the running thread leads
  unsigned patience_ = 0;             // how often a follower may search in vain
  std::vector<const Cell*> written_;  // words that the leader read and then wrote
  std::size_t written_limit_ = 0;
};

}  // namespace hostcuda::trace

#endif
