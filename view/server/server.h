// Serves HTTP and WebSocket on 127.0.0.1, only to pages from this server. Other users of the
// machine can reach the port, so all addresses contain a secret path, which the program prints. The
// server runs in its own thread. A viewer gets one frame per request, always the newest. If the
// viewer is slow, no frames queue up, and the run does not wait.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "messages.h"

namespace nbody::view {

// Called on the server's thread.
struct Handlers {
  std::function<void(const Command&)> command = [](const Command&) {};
  std::function<void(int)> viewers = [](int) {};  // current number of viewers
  std::function<void()> interrupted = [] {};      // Ctrl-C; a second one ends the process
};

class Server {
 public:
  // Until the server has a text to send, such as `info`, it serves only the page and opens no
  // WebSocket. Throws UsageError if the port cannot be used.
  Server(int port, std::string page, std::string info, Handlers handlers);
  ~Server();

  // Prints the URL, and the ssh command that forwards the port to another machine.
  void print_address(std::ostream& out) const;
  void show_frame(std::string frame);
  void show(Text kind, std::string text);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nbody::view
