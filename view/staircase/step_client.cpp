#include "step_client.h"

#include <deque>
#include <stdexcept>
#include <thread>

#include "boost.h"

namespace nbody::view {
namespace {

// The parts of http://HOST:PORT/PATH/.
struct Address {
  std::string host, port, path;
};

Address parse(const std::string& address) {
  const std::string scheme = "http://";
  const auto colon = address.find(':', scheme.size()), slash = address.find('/', scheme.size());
  if (!address.starts_with(scheme) || colon > slash || slash == address.npos)
    throw std::runtime_error("\"" + address + "\" is not the address of a view");
  return {address.substr(scheme.size(), colon - scheme.size()),
          address.substr(colon + 1, slash - colon - 1), address.substr(slash)};
}

}  // namespace

struct StepClient::Parts {
  Handlers handlers;
  net::io_context context{1};
  WebSocket socket{context};
  std::deque<std::string> due;
  std::thread thread;

  void connect(const Address& address) {
    const auto port = static_cast<unsigned short>(std::stoi(address.port));
    socket.next_layer().connect({net::ip::make_address(address.host), port});
    socket.next_layer().set_option(tcp::no_delay(true));
    const std::string host = address.host + ":" + address.port;
    socket.set_option(websocket::stream_base::decorator([host](websocket::request_type& request) {
      request.set(http::field::origin, "http://" + host);
    }));
    socket.read_message_max(0);  // frames may have any size
    socket.handshake(host, address.path + "socket");
  }

  Task read() {
    beast::flat_buffer buffer;
    try {
      while (true) {
        co_await socket.async_read(buffer, use_awaitable);
        const auto& handler = socket.got_text() ? handlers.text : handlers.frame;
        handler({static_cast<const char*>(buffer.data().data()), buffer.size()});
        buffer.clear();
      }
    } catch (const boost::system::system_error&) {
      handlers.lost();
    }
  }

  // Writes the due commands one after the other, until none is left.
  Task write() {
    try {
      while (!due.empty()) {
        co_await socket.async_write(net::buffer(due.front()), use_awaitable);
        due.pop_front();
      }
    } catch (const boost::system::system_error&) {  // read() reports the error
    }
  }
};

StepClient::StepClient(const std::string& address, Handlers handlers)
    : parts_(std::make_unique<Parts>()) {
  Parts& parts = *parts_;
  parts.handlers = std::move(handlers);
  parts.connect(parse(address));
  net::co_spawn(parts.context, parts.read(), net::detached);
  parts.thread = std::thread([&parts] { parts.context.run(); });
}

StepClient::~StepClient() {
  parts_->context.stop();
  parts_->thread.join();
}

void StepClient::send(std::string message) {
  net::post(parts_->context, [&parts = *parts_, message = std::move(message)]() mutable {
    parts.due.push_back(std::move(message));
    if (parts.due.size() == 1) net::co_spawn(parts.context, parts.write(), net::detached);
  });
}

}  // namespace nbody::view
