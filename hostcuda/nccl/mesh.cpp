#include "mesh.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <thread>

namespace hostcuda::nccl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kForAllRanks{60};
constexpr int kMilliseconds = 20;  // interval between checks of `aborted`

// The address is in the abstract namespace, so that a killed process leaves no file behind.
sockaddr_un address_of(const std::string& name, int rank, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string whole = name + "-" + std::to_string(rank);
  whole.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + whole.size());
  return address;
}

[[noreturn]] void failed(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

int connect_to(const std::string& name, int peer) {
  socklen_t length = 0;
  const sockaddr_un address = address_of(name, peer, length);
  for (const auto until = Clock::now() + kForAllRanks; Clock::now() < until;) {
    const int one = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0) failed("socket");
    if (connect(one, reinterpret_cast<const sockaddr*>(&address), length) == 0) return one;
    close(one);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // that rank is not listening yet
  }
  throw std::runtime_error("rank " + std::to_string(peer) + " did not connect");
}

// The remaining transfers in one direction between this rank and another. The sender first sends
// the number of bytes, so that the receiver notices if it expects another number.
struct Queue {
  std::deque<Transfer> transfers;
  std::size_t done = 0;  // transferred bytes of the first transfer, header included
  std::uint64_t announced = 0;
};

// Returns false if the socket cannot take or give more data now; sets `end` if the transfer failed.
bool advance(Queue& queue, int socket, End& end) {
  Transfer& first = queue.transfers.front();
  const std::size_t header = sizeof queue.announced;
  if (first.sends) queue.announced = first.bytes;
  const bool in_header = queue.done < header;
  char* const at = in_header ? reinterpret_cast<char*>(&queue.announced) + queue.done
                             : first.data + (queue.done - header);
  const std::size_t left = in_header ? header - queue.done : first.bytes - (queue.done - header);
  if (left > 0) {
    const ssize_t moved = first.sends ? send(socket, at, left, MSG_DONTWAIT | MSG_NOSIGNAL)
                                      : recv(socket, at, left, MSG_DONTWAIT);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (moved <= 0) {
      end = End::peer_gone;
      return false;
    }
    queue.done += static_cast<std::size_t>(moved);
  }
  if (queue.done == header && queue.announced != first.bytes) {
    end = End::sizes_differ;
    return false;
  }
  if (queue.done == header + first.bytes) {
    queue.transfers.pop_front();
    queue.done = 0;
  }
  return true;
}

}  // namespace

Mesh::Mesh(const std::string& name, int ranks, int rank)
    : rank_(rank), sockets_(static_cast<std::size_t>(ranks), -1) {
  socklen_t length = 0;
  const sockaddr_un own = address_of(name, rank, length);
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listening < 0 || bind(listening, reinterpret_cast<const sockaddr*>(&own), length) != 0 ||
      listen(listening, ranks) != 0)
    failed("cannot listen for the other ranks");
  for (int peer = 0; peer < rank; ++peer) {
    const int one = connect_to(name, peer);
    sockets_[static_cast<std::size_t>(peer)] = one;
    if (send(one, &rank, sizeof rank, MSG_NOSIGNAL) != sizeof rank) failed("send");
  }
  for (int others = ranks - 1 - rank; others > 0; --others) {
    pollfd waiting{listening, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(kForAllRanks.count()) * 1000) != 1)
      throw std::runtime_error("not all ranks connected");
    const int one = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    int peer = 0;
    if (one < 0 || recv(one, &peer, sizeof peer, MSG_WAITALL) != sizeof peer) failed("accept");
    sockets_[static_cast<std::size_t>(peer)] = one;
  }
  close(listening);
}

Mesh::~Mesh() {
  for (const int one : sockets_)
    if (one >= 0) close(one);
}

End Mesh::run(std::vector<Transfer> transfers, const std::atomic<bool>& aborted) {
  std::vector<Queue> out(sockets_.size()), in(sockets_.size());
  for (const Transfer& transfer : transfers)
    (transfer.sends ? out : in)[static_cast<std::size_t>(transfer.peer)].transfers.push_back(
        transfer);
  // Messages from a rank to itself are copied.
  auto &given = out[static_cast<std::size_t>(rank_)].transfers,
       &taken = in[static_cast<std::size_t>(rank_)].transfers;
  if (given.size() != taken.size()) return End::sizes_differ;
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k].bytes != taken[k].bytes) return End::sizes_differ;
    std::memmove(taken[k].data, given[k].data, given[k].bytes);
  }
  given.clear();
  taken.clear();
  while (true) {
    std::vector<pollfd> waiting;
    End end = End::done;
    for (std::size_t peer = 0; peer < sockets_.size(); ++peer) {
      while (!out[peer].transfers.empty() && advance(out[peer], sockets_[peer], end)) {
      }
      while (!in[peer].transfers.empty() && advance(in[peer], sockets_[peer], end)) {
      }
      const int events =
          (out[peer].transfers.empty() ? 0 : POLLOUT) | (in[peer].transfers.empty() ? 0 : POLLIN);
      if (events != 0) waiting.push_back({sockets_[peer], static_cast<short>(events), 0});
    }
    if (end != End::done || waiting.empty()) return end;
    if (aborted) return End::aborted;
    poll(waiting.data(), waiting.size(), kMilliseconds);
  }
}

}  // namespace hostcuda::nccl
