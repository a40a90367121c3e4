// Boost.Beast, included only by server.cpp and step_client.cpp, because its templates take long to
// compile.
#pragma once

// clang-format off: Boost 1.74 needs this header but does not include it
#include <utility>
// clang-format on

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

namespace nbody::view {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = net::ip::tcp;

// The executor of an io_context. Code for arbitrary executors would take longer to compile.
using Executor = net::io_context::executor_type;
using Socket = tcp::socket::rebind_executor<Executor>::other;
using Timer = net::steady_timer::rebind_executor<Executor>::other;
using WebSocket = websocket::stream<Socket, false>;  // without compression
using Task = net::awaitable<void, Executor>;
inline constexpr net::use_awaitable_t<Executor> use_awaitable;

}  // namespace nbody::view
