// The threads of a warp run one after another here, and mostly do the same. The first of them
// leaves a trail: the loads that it made, where nothing was wrong. A thread that comes after it and
// makes the same load at the same place in the code need not be looked at again.
//
// That holds as long as nothing happened to the warp and to the words: not beyond a barrier, and
// not for a word that was written since.
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
    Cell* cells;          // of its words
    Access read;          // by the thread that led
  };
  static constexpr Step kNone{nullptr, nullptr, nullptr, {}};
  // Of this host thread: others, which run host code, follow nothing.
  struct Position {
    const Step* next;   // to be followed
    const Step* first;  // that was followed and is not logged
    unsigned thread;
  };

 public:
  // The thread of this number goes on, or its epoch is another one: it follows, or leaves a trail
  // itself. `log` is its warp's.
  void enter(unsigned thread, std::uint32_t epoch, WarpLog& log);
  // Another thread goes on, or this one makes an access that is looked at: logs what it followed.
  [[gnu::always_inline]] void leave() {
    if (here_.next != here_.first) log_followed();
  }
  // Nobody follows any more.
  void end();

  // Whether the running thread follows with this load of so many whole words.
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

  // Where it does not: whether it left out a few steps, or took a few of its own, and goes on from
  // here.
  bool catch_up(const void* address, const void* code) {
    return patience_ && here_.next != &kNone && find_near(address, code);
  }

  bool is_led() const { return is_led_; }
  // The access that was just logged, by the code at `code`: of the thread that leads, or of one
  // that goes its own way for a step.
  [[gnu::always_inline]] void pass(const void* code) {
    if (is_led_)
      add({code, nullptr, nullptr, {}});
    else if (here_.next->code == code)
      here_.first = ++here_.next;
  }
  // Likewise, by the thread that leads: a load that others may follow.
  [[gnu::noinline]] void add_load(const void* code, const char* address, Cell* cells,
                                  const Access& read) {
    add({code, address, cells, read});
  }
  // The access that was logged last turned out to be such a load.
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
  unsigned leader_ = 0;  // its lane
  WarpLog* log_ = nullptr;
  std::uint32_t epoch_ = 0;           // 0: there is no trail
  std::uint32_t lanes_ = 0;           // that led or followed
  bool is_led_ = false;               // by the running thread
  unsigned patience_ = 0;             // how often the one that follows may search in vain
  std::vector<const Cell*> written_;  // by the leader, after it read them
  std::size_t written_limit_ = 0;
};

}  // namespace hostcuda::trace

#endif
