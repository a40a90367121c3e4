// Ends all ranks when one of them is gone.
//
// MPI and NCCL wait for a rank that died; so do some launchers. Therefore every rank has its own
// connection to the root, watched by a thread. The end of a process closes its connection, whatever
// the process was waiting for; a machine that is gone falls silent. The root notifies the others
// and reports in one line which rank it was; if the root is gone, rank 1 reports it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace nbody {

// Seconds after which a rank that sends no sign of life counts as gone: NBODY_SILENCE, or 6. Throws
// UsageError.
double longest_silence();

// Blocks SIGTERM and SIGINT for this thread and those it starts; the watchdog takes them, SIGINT on
// the root alone. To be called before MPI starts threads. A launcher ends all ranks when one dies,
// and the root has to say why first.
void block_endings();

class Watchdog {
 public:
  // Called by all ranks. `names` are how messages call them, `program` begins every line.
  Watchdog(MPI_Comm ranks, std::string program, std::vector<std::string> names);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // What ends a collective that others have left; called before the process ends.
  void on_end(std::function<void()> abort);

  // This rank cannot go on. On the root, which then says why itself, all others have been told on
  // return; another rank has told the root, and does not return.
  void give_up(const std::string& why);

  // Does not return once all ranks are ending: an aborted collective leaves what never arrived, and
  // nothing may be made of that, least of all a checkpoint.
  void stop_if_ending() const;

  // From now on the ranks may leave. Called by all ranks together.
  void dismiss();

 private:
  struct Peer {
    int rank;
    int socket;
    double heard;
    std::string text = {};
    bool left = false;
  };
  void watch();
  void listen_to(Peer& peer);
  void heed(Peer& peer, const std::string& line);
  void take_signal();
  void lost(const Peer& peer, const std::string& how);
  [[noreturn]] void end_process();
  void tell_all(const std::string& line);

  int rank_;
  double silence_ = longest_silence();
  std::string program_;
  std::vector<std::string> names_;
  std::vector<Peer> peers_;  // of the root all others, of another rank the root
  int signals_ = -1;
  double signalled_ = 0;    // when a signal came; 0: not
  int signal_ = 0;          // which
  double passed_on_ = -60;  // when it was last heeded
  std::mutex sending_;
  std::mutex ending_;
  std::function<void()> abort_;
  std::atomic<bool> dismissed_ = false;
  std::atomic<bool> given_up_ = false;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace nbody
