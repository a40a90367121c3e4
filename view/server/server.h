// HTTP and WebSocket on 127.0.0.1, for pages that this server itself has served. Runs in a thread
// of its own. A viewer gets frames as fast as it asks for them and always the newest one: however
// slow it is, nothing queues up and nobody waits for it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "messages.h"

namespace nbody::view {

// Called on the server's thread.
struct Handlers {
  std::function<void(const Command&)> command = [](const Command&) {};
  std::function<void(int)> viewers = [](int) {};  // how many look now
  std::function<void()> interrupted = [] {};      // Ctrl-C; a second one ends the process
};

class Server {
 public:
  // Without an `info` message there is nothing to connect to besides the page.
  // Throws UsageError when the port cannot be had.
  Server(int port, std::string page, std::string info, Handlers handlers);
  ~Server();

  int port() const;
  void show_frame(std::string frame);
  void show_status(std::string status);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nbody::view
