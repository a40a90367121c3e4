#include "server.h"

#include <csignal>
#include <thread>

#include "boost.h"
#include "http_answers.h"
#include "nbody/error.h"
#include "viewer.h"

namespace nbody::view {
namespace {

constexpr auto kMostSecondsOfARequest = std::chrono::seconds(10);
constexpr auto kMostSecondsOfAnAnswer =
    std::chrono::minutes(10);  // pages may be large, tunnels slow
constexpr int kMostConnections = 32;
constexpr std::uint32_t kMostBytesOfAHeader = 8192;

}  // namespace

struct Server::Parts {
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
  net::awaitable<void> refuse_or_view(beast::tcp_stream stream, Request request);
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
    if (error) {  // too many open files, most likely: they will be fewer
      net::steady_timer pause(context, std::chrono::milliseconds(100));
      co_await pause.async_wait(use_awaitable);
      continue;
    }
    if (connections >= kMostConnections) continue;  // closes the socket
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
    parser.header_limit(kMostBytesOfAHeader);
    stream.expires_after(kMostSecondsOfARequest);
    beast::error_code error;
    co_await http::async_read(stream, buffer, parser, net::redirect_error(use_awaitable, error));
    if (error && error.category() != beast::error_code(http::error::end_of_stream).category()) {
      co_return;  // gone, or too slow
    }
    if (error == http::error::end_of_stream || error == http::error::partial_message) break;

    const bool is_upgrade = !error && websocket::is_upgrade(parser.get());
    if (is_upgrade && !feed.info.empty()) {
      co_return co_await refuse_or_view(std::move(stream), parser.release());
    }
    Response response = error ? refusal(http::status::bad_request, "Not a request.\n")
                              : answer_to(parser.get(), page);
    goes_on = response.keep_alive();
    stream.expires_after(kMostSecondsOfAnAnswer);
    co_await http::async_write(stream, response, use_awaitable);
  }
  beast::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

net::awaitable<void> Server::Parts::refuse_or_view(beast::tcp_stream stream, Request request) {
  std::string_view refused;
  if (!has_good_host(request))
    refused = "Only ws://127.0.0.1 and ws://localhost.\n";
  else if (request.target() != "/socket")
    refused = "There is one socket: /socket\n";
  else if (!has_good_origin(request))
    refused = "Only for pages from here.\n";
  if (!refused.empty()) {
    Response response = refusal(http::status::forbidden, refused);
    co_await http::async_write(stream, response, use_awaitable);
    co_return;
  }
  stream.expires_never();  // the WebSocket has time limits of its own
  co_await std::make_shared<Viewer>(std::move(stream), feed)->run(std::move(request));
}

Server::Server(int port, std::string page, std::string info, Handlers handlers)
    : parts_(std::make_unique<Parts>()) {
  Parts& parts = *parts_;
  parts.page = std::move(page);
  parts.feed.info = std::move(info);
  parts.feed.handlers = std::move(handlers);
  parts.listen(port);
  parts.signals.add(SIGINT);
  parts.signals.add(SIGTERM);
  parts.signals.async_wait([&parts](const beast::error_code& error, int) {
    if (error) return;
    parts.signals.clear();  // from now on a signal does what it does to any program
    parts.feed.handlers.interrupted();
  });
  net::co_spawn(parts.context, parts.accept(), net::detached);
  parts.thread = std::thread([&parts] { parts.context.run(); });
}

Server::~Server() {
  parts_->context.stop();
  parts_->thread.join();
}

int Server::port() const { return parts_->acceptor.local_endpoint().port(); }

void Server::show_frame(std::string frame) {
  auto shared = std::make_shared<const std::string>(std::move(frame));
  net::post(parts_->context, [parts = parts_.get(), shared = std::move(shared)] {
    parts->feed.frame = shared;
    ++parts->feed.frame_number;
    parts->wake_viewers();
  });
}

void Server::show_status(std::string status) {
  net::post(parts_->context, [parts = parts_.get(), status = std::move(status)] {
    parts->feed.status = status;
    ++parts->feed.status_number;
    parts->wake_viewers();
  });
}

}  // namespace nbody::view
