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
constexpr auto kResponseTimeout = std::chrono::minutes(10);  // pages can be large, tunnels slow
constexpr int kMaxConnections = 32;
constexpr std::uint32_t kMaxHeaderBytes = 8192;

// The name by which an ssh client has reached this machine is not known here; its address is.
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

struct Server::Parts {
  const std::string path = random_path();
  std::string page;
  Feed feed;
  int connections = 0;
  net::io_context context{1};
  tcp::acceptor acceptor{context};
  net::signal_set signals{context};
  std::thread thread;

  void listen(int port);
  net::awaitable<void> accept();
  net::awaitable<void> serve(beast::tcp_stream stream);
  net::awaitable<void> accept_viewer(beast::tcp_stream stream, Request request);
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
                     "; another port is needed, or 0 for any free one");
  }
}

net::awaitable<void> Server::Parts::accept() {
  while (true) {
    beast::error_code error;
    tcp::socket socket = co_await acceptor.async_accept(net::redirect_error(use_awaitable, error));
    if (error) {  // most likely too many open files, which ends when connections do
      net::steady_timer pause(context, std::chrono::milliseconds(100));
      co_await pause.async_wait(use_awaitable);
      continue;
    }
    if (connections >= kMaxConnections) continue;  // closes the socket
    ++connections;
    net::co_spawn(context, serve(beast::tcp_stream(std::move(socket))),
                  [this](std::exception_ptr) { --connections; });
  }
}

net::awaitable<void> Server::Parts::serve(beast::tcp_stream stream) {
  stream.socket().set_option(tcp::no_delay(true));
  beast::flat_buffer buffer;
  for (bool goes_on = true; goes_on;) {
    http::request_parser<http::empty_body> parser;
    parser.header_limit(kMaxHeaderBytes);
    stream.expires_after(kRequestTimeout);
    beast::error_code error;
    co_await http::async_read(stream, buffer, parser, net::redirect_error(use_awaitable, error));
    if (error && error.category() != beast::error_code(http::error::end_of_stream).category()) {
      co_return;  // the client is gone or too slow
    }
    if (error == http::error::end_of_stream || error == http::error::partial_message) break;

    const bool is_upgrade = !error && websocket::is_upgrade(parser.get());
    if (is_upgrade && feed.knows_anything()) {
      co_return co_await accept_viewer(std::move(stream), parser.release());
    }
    Response response = error ? refusal(http::status::bad_request, "Not a request.\n")
                              : answer_to(parser.get(), path, page);
    goes_on = response.keep_alive();
    stream.expires_after(kResponseTimeout);
    co_await http::async_write(stream, response, use_awaitable);
  }
  beast::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

net::awaitable<void> Server::Parts::accept_viewer(beast::tcp_stream stream, Request request) {
  std::string_view refused;
  if (!has_good_host(request))
    refused = "Only ws://127.0.0.1 and ws://localhost.\n";
  else if (target_in(path, request) != "socket")
    refused = "Only with the address that the program prints.\n";
  else if (!has_good_origin(request))
    refused = "Only for pages from here.\n";
  if (!refused.empty()) {
    Response response = refusal(http::status::forbidden, refused);
    co_await http::async_write(stream, response, use_awaitable);
    co_return;
  }
  stream.expires_never();  // the WebSocket has its own timeouts
  co_await std::make_shared<Viewer>(std::move(stream), feed)->run(std::move(request));
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
