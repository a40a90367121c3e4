#include "cluster/watchdog.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "cluster/connection.h"
#include "cluster/transport.h"
#include "nbody/error.h"
#include "nbody/stopwatch.h"
#include "run/program.h"
#include "support/text.h"

namespace nbody {
namespace {

constexpr double kBeat = 1;           // seconds between heartbeats
constexpr double kForLastWord = 0.5;  // seconds from a signal until it takes effect
constexpr double kOneWave = 3;        // seconds; later signals within this time have no effect
constexpr double kToAbort = 2;        // seconds to wait until NCCL has ended its kernels

sigset_t signals(std::initializer_list<int> all) {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : all) sigaddset(&set, one);
  return set;
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace

double longest_silence() {
  const char* const asked = std::getenv("NBODY_SILENCE");
  if (asked == nullptr) return 6;
  const auto seconds = parse_whole<double>(asked);
  if (!seconds || !(*seconds >= 2 && *seconds <= 86400))
    refuse("NBODY_SILENCE", asked, "2 to 86400 seconds, after which a silent rank counts as gone");
  return *seconds;
}

void block_endings() {
  const sigset_t set = signals({SIGINT, SIGTERM, SIGUSR1});
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Watchdog::Watchdog(MPI_Comm ranks, std::string program, std::vector<std::string> names)
    : rank_(rank_in(ranks)), program_(std::move(program)), names_(std::move(names)) {
  const sigset_t set =
      rank_ == 0 ? signals({SIGINT, SIGTERM, SIGUSR1}) : signals({SIGTERM, SIGUSR1});
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  for (const Connection& connection : connect_to_root(ranks))
    peers_.push_back({connection.rank, connection.socket, steady_seconds()});
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  dismissed_ = true;
  thread_.join();
  for (const Peer& peer : peers_) close(peer.socket);
  close(signals_);
}

void Watchdog::on_end(std::function<void()> abort) {
  const std::lock_guard<std::mutex> lock(ending_);
  abort_ = std::move(abort);
}

void Watchdog::tell_all(const std::string& line) {
  const std::lock_guard<std::mutex> lock(sending_);
  const std::string whole = line + '\n';
  for (const Peer& peer : peers_)
    (void)!send(peer.socket, whole.data(), whole.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Watchdog::give_up(const std::string& why) {
  stop_if_ending();  // does not report failures that the aborted collective causes
  // If given_up_ is already set, another rank may have failed for the same reason, and lost() is
  // reporting the failure of that rank.
  if (given_up_.exchange(true)) sleep_for(silence_);
  tell_all(rank_ == 0 ? "end" : "failed " + one_line(why));
  if (rank_ == 0) return;
  sleep_for(silence_);  // the root ends all ranks; if it does not, this rank ends alone
  end_process();
}

void Watchdog::stop_if_ending() const {
  while (is_ending_) sleep_for(1);
}

void Watchdog::dismiss() {
  tell_all("bye");
  dismissed_ = true;
}

void Watchdog::watch() {
  double beat = 0;
  while (!dismissed_) {
    std::vector<pollfd> waiting{{signals_, POLLIN, 0}};
    for (const Peer& peer : peers_) waiting.push_back({peer.left ? -1 : peer.socket, POLLIN, 0});
    poll(waiting.data(), waiting.size(), 100);
    for (std::size_t k = 0; k < peers_.size(); ++k)
      if (waiting[k + 1].revents != 0) listen_to(peers_[k]);
    const double now = steady_seconds();
    for (const Peer& peer : peers_)
      if (!peer.left && now - peer.heard > silence_)
        lost(peer, "has been silent for " + shortest(silence_) + " s");
    if (waiting[0].revents != 0 || signalled_ > 0) take_signal();
    if (now - beat > kBeat) {
      beat = now;
      tell_all("alive");
    }
  }
}

void Watchdog::listen_to(Peer& peer) {
  char text[4096];
  const ssize_t bytes = recv(peer.socket, text, sizeof text, MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes <= 0) return lost(peer, "is gone: killed, or crashed");
  peer.heard = steady_seconds();
  peer.text.append(text, static_cast<std::size_t>(bytes));
  for (std::size_t end; (end = peer.text.find('\n')) != std::string::npos;) {
    heed(peer, peer.text.substr(0, end));
    peer.text.erase(0, end + 1);
  }
}

void Watchdog::heed(Peer& peer, const std::string& line) {
  if (line == "bye") peer.left = true;
  if (line == "end") end_process();
  if (line == "terminate") kill(getpid(), SIGTERM);
  if (line.starts_with("failed ")) lost(peer, ": " + line.substr(7));
}

// Called when the launcher or the batch system ends the run. If the reason is that a rank has died,
// that rank's closed connection shows this within a moment. Otherwise the root ends the run, as a
// single process would.
void Watchdog::take_signal() {
  signalfd_siginfo info;
  const bool one_more = read(signals_, &info, sizeof info) == sizeof info;
  if (one_more && signalled_ == 0 && steady_seconds() - passed_on_ > kOneWave) {
    signalled_ = steady_seconds();
    signal_ = static_cast<int>(info.ssi_signo == SIGUSR1 ? SIGTERM : info.ssi_signo);
  }
  if (signalled_ == 0 || steady_seconds() - signalled_ < kForLastWord) return;
  signalled_ = 0;
  passed_on_ = steady_seconds();
  if (rank_ != 0) return tell_all("terminate");
  struct sigaction action {};
  sigaction(signal_, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  if (!Interruption::is_open()) {  // the run ends without writing a checkpoint
    std::fprintf(stderr, "%s: ended by SIG%s; all ranks end\n", program_.c_str(),
                 sigabbrev_np(signal_));
    tell_all("end");
    end_process();
  }
  const sigset_t set = signals({signal_});
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  pthread_kill(pthread_self(), signal_);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void Watchdog::lost(const Peer& peer, const std::string& how) {
  if (dismissed_ || given_up_.exchange(true)) return;  // another call reports the reason
  if (rank_ <= 1) {
    std::fprintf(stderr, "%s: rank %d (%s)%s%s; all ranks end\n", program_.c_str(), peer.rank,
                 names_[static_cast<std::size_t>(peer.rank)].c_str(), how[0] == ':' ? "" : " ",
                 how.c_str());
  }
  tell_all("end");
  end_process();
}

// Does not call exit(), which would destroy objects that other threads are still using.
void Watchdog::end_process() {
  is_ending_ = true;  // set before anything is aborted
  const std::lock_guard<std::mutex> lock(ending_);
  if (abort_) {
    static std::atomic<bool> aborted = false;
    std::thread([abort = abort_] {
      abort();
      aborted = true;
    }).detach();
    const Stopwatch stopwatch;
    while (!aborted && stopwatch.seconds() < kToAbort) sleep_for(0.02);
  }
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace nbody
