// Ends all ranks when one of them is gone.
//
// MPI and NCCL wait forever for a rank that died, and so do some launchers. Therefore every rank
// has its own connection to the root, and a thread that watches the connection. When a process
// ends, the system closes its connection, whatever the process was waiting for. Every rank also
// sends heartbeats, which stop when its machine fails. The root notifies the other ranks and
// reports in one line which rank is gone; if the root itself is gone, rank 1 reports that.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace nbody {

// Returns the seconds after which a rank that sends no sign of life counts as gone: NBODY_SILENCE,
// or 6. Throws UsageError.
double longest_silence();

// Blocks SIGTERM, SIGUSR1 and SIGINT for this thread and the threads it starts. The watchdog
// handles these signals, but SIGINT only on the root. Call this function before MPI starts threads.
// When a rank dies, the launcher signals all other ranks, but before they end, the root must report
// the reason. SIGUSR1 has the same effect as SIGTERM, but mpirun does not kill the ranks after it
// has forwarded a SIGUSR1.
void block_endings();

class Watchdog {
 public:
  // Called by all ranks. `names` are the ranks' names in messages; `program` begins every message.
  Watchdog(MPI_Comm ranks, std::string program, std::vector<std::string> names);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Sets the function that aborts a collective operation that other ranks have left. The watchdog
  // calls this function before the process exits.
  void on_end(std::function<void()> abort);

  // Reports that this rank cannot continue. On the root, this function returns once all other ranks
  // are notified; the root then prints the reason. On another rank, this function notifies the root
  // and does not return.
  void give_up(const std::string& why);

  // If the ranks are ending, this function does not return: an aborted collective operation leaves
  // incomplete data, which must not be used, least of all in a checkpoint.
  void stop_if_ending() const;

  // After this call, the end of a rank causes no alarm. All ranks call this function together.
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
  std::vector<Peer> peers_;  // root: all other ranks; other ranks: the root
  int signals_ = -1;
  double signalled_ = 0;    // time of the signal; 0: none came
  int signal_ = 0;          // number of the signal
  double passed_on_ = -60;  // time at which a signal last took effect
  std::mutex sending_;
  std::mutex ending_;
  std::function<void()> abort_;
  std::atomic<bool> dismissed_ = false;
  std::atomic<bool> given_up_ = false;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace nbody
