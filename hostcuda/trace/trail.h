// The emulator runs the threads of a warp one after another, and they usually make the same
// accesses. The first thread of a warp records a trail: its valid loads. If a later thread makes
// the same load at the same place in the code, that load is not checked again. A trail is valid
// until the next barrier. A load on the trail is valid until a thread writes to the word that it
// loads.
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
    const void* code;     // null: the end of the trail
    const char* address;  // null: the access must not be followed
    Cell* cells;          // cells of the words that the step loads
    Access read;          // the leading thread's access
  };
  static constexpr Step kNone{nullptr, nullptr, nullptr, {}};
  // Each host thread has its own position. Threads that run host code follow no trail.
  struct Position {
    const Step* next;   // next step to follow
    const Step* first;  // first step that was followed but is not logged yet
    unsigned thread;
  };

 public:
  // Called when this thread continues, or when its epoch has changed. The thread then follows or
  // records a trail. `log` is the log of the thread's warp.
  void enter(unsigned thread, std::uint32_t epoch, WarpLog& log);
  // Logs the steps that were followed so far. Called when another thread continues or an access
  // must be checked.
  [[gnu::always_inline]] void leave() {
    if (here_.next != here_.first) log_followed();
  }
  // Ends the trail: no thread follows it from now on.
  void end();

  // Returns true if this load of `words` whole words is the next load on the running thread's
  // trail.
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

  // Called if follow() returned false. Returns true if the thread only left out or inserted a few
  // steps, so that it can continue on the trail.
  bool catch_up(const void* address, const void* code) {
    return patience_ && here_.next != &kNone && find_near(address, code);
  }

  bool is_led() const { return is_led_; }
  // Updates the trail after an access by the code at `code` was logged. Either the leading thread
  // made the access, or a thread that leaves the trail only for this access.
  [[gnu::always_inline]] void pass(const void* code) {
    if (is_led_)
      add({code, nullptr, nullptr, {}});
    else if (here_.next->code == code)
      here_.first = ++here_.next;
  }
  // Adds a load by the leading thread that other threads may follow.
  [[gnu::noinline]] void add_load(const void* code, const char* address, Cell* cells,
                                  const Access& read) {
    add({code, address, cells, read});
  }
  // Makes the last logged access a load that other threads may follow.
  void last_is_load(const char* address, Cell* cells) {
    if (steps_.size() == LoggedAccess::kLongestRun) return;  // a full trail takes no more loads
    steps_.back().address = address;
    steps_.back().cells = cells;
    steps_.back().read = cells->reads[0];
  }
  // Called when the running thread is about to write a word.
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

  std::vector<Step> steps_;  // in the order of the leader's log, starting at entry `begin_`
  std::size_t begin_ = 0;
  unsigned leader_ = 0;  // lane of the leading thread
  WarpLog* log_ = nullptr;
  std::uint32_t epoch_ = 0;           // 0 if there is no trail
  std::uint32_t lanes_ = 0;           // threads that have led or followed
  bool is_led_ = false;               // true if the running thread leads
  unsigned patience_ = 0;             // number of failed searches that a follower may still make
  std::vector<const Cell*> written_;  // words that the leader read and then wrote
  std::size_t written_limit_ = 0;
};

}  // namespace hostcuda::trace

#endif
