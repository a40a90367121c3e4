#include "server.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <thread>

#include "boost.h"
#include "http_response.h"
#include "nbody/error.h"
#include "viewer.h"

namespace nbody::view {
namespace {

constexpr auto kRequestTimeout = std::chrono::seconds(10);
constexpr auto kResponseTimeout = std::chrono::minutes(10);  // pages can be large and tunnels slow
constexpr int kMaxConnections = 32;
constexpr std::uint32_t kMaxHeaderBytes = 8192;

// Returns the address of this machine if the user has connected with ssh, because this program does
// not know the name that the user gave to ssh. Otherwise returns the machine's name.
std::string this_host() {
  if (const char* connection = std::getenv("SSH_CONNECTION")) {
    std::string client, client_port, server;
    if (std::istringstream(connection) >> client >> client_port >> server) return server;
  }
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "HOST";
  return name;
}

std::string this_user() {
  const char* user = std::getenv("USER");
  return user == nullptr || *user == '\0' ? "" : std::string(user) + "@";
}

}  // namespace

// A socket, and its deadline.
struct Connection : std::enable_shared_from_this<Connection> {
  Socket socket;
  Timer deadline;

  explicit Connection(Socket accepted)
      : socket(std::move(accepted)), deadline(socket.get_executor()) {}

  void limit(std::chrono::seconds time) {
    deadline.expires_after(time);
    deadline.async_wait([weak = weak_from_this()](const beast::error_code& cancelled) {
      if (const auto self = weak.lock(); self && !cancelled) self->socket.close();
    });
  }
};

struct Server::Parts {
  const std::string path = random_path();
  std::string page;
  Feed feed;
  int connections = 0;
  net::io_context context{1};
  tcp::acceptor::rebind_executor<Executor>::other acceptor{context};
  net::signal_set signals{context};
  std::thread thread;

  void listen(int port);
  Task accept();
  Task serve(Socket accepted);
  void wake_viewers() {
    for (Viewer* viewer : feed.viewers) viewer->wake();
  }
};

void Server::Parts::listen(int port) {
  const tcp::endpoint here(net::ip::address_v4::loopback(), static_cast<unsigned short>(port));
  beast::error_code error;
  acceptor.open(here.protocol());
  acceptor.set_option(net::socket_base::reuse_address(true));
  acceptor.bind(here, error);
  if (!error) acceptor.listen(net::socket_base::max_listen_connections, error);
  if (error) {
    throw UsageError("port " + std::to_string(port) + " on 127.0.0.1: " + error.message() +
                     "; choose another port, or 0 for any free port");
  }
}

Task Server::Parts::accept() {
  while (true) {
    beast::error_code error;
    Socket socket = co_await acceptor.async_accept(net::redirect_error(use_awaitable, error));
    if (error) {  // probably too many open files; wait until connections end
      Timer pause(context, std::chrono::milliseconds(100));
      co_await pause.async_wait(use_awaitable);
      continue;
    }
    if (connections >= kMaxConnections) continue;  // closes the socket
    ++connections;
    net::co_spawn(context, serve(std::move(socket)), [this](std::exception_ptr) { --connections; });
  }
}

Task Server::Parts::serve(Socket accepted) {
  const auto connection = std::make_shared<Connection>(std::move(accepted));
  Socket& socket = connection->socket;
  socket.set_option(tcp::no_delay(true));
  connection->limit(kRequestTimeout);
  beast::flat_buffer buffer;
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kMaxHeaderBytes);
  beast::error_code error;
  co_await http::async_read(socket, buffer, parser, net::redirect_error(use_awaitable, error));
  const bool is_malformed = error.category() == beast::error_code(http::error{}).category() &&
                            error != http::error::end_of_stream &&
                            error != http::error::partial_message;
  if (error && !is_malformed) co_return;  // the client is gone or too slow

  Answer answer;
  if (error) {
    answer = refusal("400 Bad Request", "Not a request.\n");
  } else if (websocket::is_upgrade(parser.get()) && feed.knows_anything()) {
    const std::string_view why = why_no_viewer(parser.get(), path);
    if (why.empty()) {
      connection->deadline.cancel();  // WebSockets have their own timeouts
      co_return co_await std::make_shared<Viewer>(std::move(socket), feed)->run(parser.release());
    }
    answer = refusal(kForbidden, why);
  } else {
    answer = answer_to(parser.get(), path, page);
  }
  connection->limit(kResponseTimeout);
  const std::array<net::const_buffer, 2> parts = {net::buffer(answer.head),
                                                  net::buffer(answer.body)};
  co_await net::async_write(socket, parts, use_awaitable);
  socket.shutdown(tcp::socket::shutdown_send, error);
}

Server::Server(int port, std::string page, std::string info, Handlers handlers)
    : parts_(std::make_unique<Parts>()) {
  Parts& parts = *parts_;
  parts.page = std::move(page);
  if (!info.empty()) parts.feed.show(Text::info, std::move(info));
  parts.feed.handlers = std::move(handlers);
  parts.listen(port);
  parts.signals.add(SIGINT);
  parts.signals.add(SIGTERM);
  parts.signals.async_wait([&parts](const beast::error_code& error, int) {
    if (error) return;
    parts.signals.clear();  // a second signal ends the process
    parts.feed.handlers.interrupted();
  });
  net::co_spawn(parts.context, parts.accept(), net::detached);
  parts.thread = std::thread([&parts] { parts.context.run(); });
}

Server::~Server() {
  parts_->context.stop();
  parts_->thread.join();
}

void Server::print_address(std::ostream& out) const {
  const auto port = parts_->acceptor.local_endpoint().port();
  out << "  view         http://127.0.0.1:" << port << parts_->path << "\n"
      << "               from another machine: ssh -L " << port << ":127.0.0.1:" << port << ' '
      << this_user() << this_host() << "\n"
      << std::flush;
}

void Server::show_frame(std::string frame) {
  auto shared = std::make_shared<const std::string>(std::move(frame));
  net::post(parts_->context, [parts = parts_.get(), shared = std::move(shared)] {
    parts->feed.frame = shared;
    ++parts->feed.frame_number;
    parts->wake_viewers();
  });
}

void Server::show(Text kind, std::string text) {
  net::post(parts_->context, [parts = parts_.get(), kind, text = std::move(text)]() mutable {
    parts->feed.show(kind, std::move(text));
    parts->wake_viewers();
  });
}

}  // namespace nbody::view
